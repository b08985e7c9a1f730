# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A comparison in a sentence for each table and side: how much faster, from which size to which."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import chain, groupby
from typing import TYPE_CHECKING

from mpigauge.model.units import as_percent, byte_count, number, percent
from mpigauge.result.stats.verdicts import enough

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.result.compare.comparison import (
        ComparedNumber,
        Comparison,
        ComparisonTable,
        Overall,
    )

_TWICE = 2.0
"""The smallest ratio that is printed as a factor; smaller ones are percentages."""
_TIMES = {
    (True, True): "takes {} times as long",
    (True, False): "is {} times as fast",
    (False, True): "is {} times as high",
    (False, False): "is {} times as low",
}
"""Phrases, keyed by (it is a time, it is more)."""
_SHARES = {
    (True, True): "takes {} more time",
    (True, False): "takes {} less time",
    (False, True): "is {} higher",
    (False, False): "is {} lower",
}
Span = list["ComparedNumber"]
"""Sizes that follow each other and have the same verdict."""


def in_words(comparison: Comparison) -> Comparison:
    """The comparison with the sentences that its tables and all of it are summed up in."""
    return replace(
        comparison,
        tables=tuple(_table_in_words(comparison, table) for table in comparison.tables),
        sentences=tuple(_of_all(comparison)),
    )


def _table_in_words(comparison: Comparison, table: ComparisonTable) -> ComparisonTable:
    return replace(
        table,
        sentences=tuple(_of_numbers(comparison, table)),
        curve_sentences=tuple(_of_curves(comparison, table)),
    )


def _of_numbers(comparison: Comparison, table: ComparisonTable) -> Iterator[str]:
    """A sentence for each side but the first."""
    for side, name in enumerate(comparison.names[1:], 1):
        judged = [entry for entry in table.column(side) if entry.judged]
        if judged:
            yield f"{name} {_sentence(judged, comparison.tolerance)}."


def _of_curves(comparison: Comparison, table: ComparisonTable) -> Iterator[str]:
    """A sentence for each side of which a curve is judged as a whole."""
    for name, overall in zip(comparison.names, table.overall, strict=True):
        if overall:
            where = f"Over all {overall.numbers} sizes"
            yield _overall(where, name, comparison.names[0], overall)


def _of_all(comparison: Comparison) -> Iterator[str]:
    """A sentence for each side of which all times are judged as a whole."""
    sides = zip(comparison.names, comparison.overall, strict=False)
    for side, (name, overall) in enumerate(sides):
        if overall:
            where = f"Over all {overall.numbers} times together"
            sentence = _overall(where, name, comparison.names[0], overall)
            yield sentence + _both_ways(comparison, side)


def _both_ways(comparison: Comparison, side: int) -> str:
    """Returns how many times are shorter and how many longer; empty unless there are both."""
    counts: Counter[str] = Counter()
    for table in comparison.tables:
        counts.update(each.judged.verdict for each in table.column(side) if each.judged)
    if not (counts["LESS"] and counts["MORE"]):
        return ""
    return f" Of these {counts['LESS']} are shorter and {counts['MORE']} longer."


def _overall(where: str, name: str, first: str, overall: Overall) -> str:
    """The sentence on a whole comparison, such as: Over all 5 sizes B takes 1.30 (1.29 to 1.31)
    times as long as A: SLOWER."""
    verdict = overall.verdict
    if overall.undecided:
        verdict += f" ({overall.undecided})"
    if not math.isfinite(overall.ratio.log):
        return f"{where} {name} is {verdict}."
    estimate = overall.ratio.estimate
    times = number(estimate.value, estimate.error)
    if overall.ratio.error > 0:
        low, high = number(estimate.low, estimate.error), number(estimate.high, estimate.error)
        times = f"{times} ({low} to {high})"
    return f"{where} {name} takes {times} times as long as {first}: {verdict}."


def _sentence(entries: Sequence[ComparedNumber], tolerance: float) -> str:
    spans = [list(span) for _, span in groupby(entries, key=lambda entry: entry.verdict)]
    parts = [*_changes(spans), *_same(spans, tolerance), *_open(spans)]
    return "; ".join(parts)


def _changes(spans: Sequence[Span]) -> Iterator[str]:
    for span in spans:
        if _verdict(span) in ("LESS", "MORE"):
            yield f"{_amount(span)}{_where([span], spans)}"


def _same(spans: Sequence[Span], tolerance: float) -> Iterator[str]:
    same = [span for span in spans if _verdict(span) == "SAME"]
    if same:
        yield f"is the same within {as_percent(tolerance)}{_where(same, spans)}"


def _open(spans: Sequence[Span]) -> Iterator[str]:
    left = [span for span in spans if _verdict(span) == "UNDECIDED"]
    if left:
        why = "; ".join(_reasons(chain.from_iterable(left)))
        yield f"is undecided{_where(left, spans)} ({why})"


def _reasons(entries: Iterable[ComparedNumber]) -> Iterator[str]:
    """Yields the range of launches that would decide, then every other reason once."""
    needed, others = [], []
    for entry in entries:
        launches = _launches_needed(entry)
        if launches:
            needed.append(launches)
        else:
            others.append(entry.undecided)
    if needed:
        fewest, most = str(min(needed)), str(max(needed))
        some = " some sizes" if others else ""
        yield f"about {_range(fewest, most)} launches of each would decide{some}"
    unique = list(dict.fromkeys(others))
    if needed and unique:
        unique[0] = f"for others: {unique[0]}"
    yield from unique


def _launches_needed(entry: ComparedNumber) -> int | None:
    """Returns the launches per side that would decide it; None: unknown."""
    if entry.ratio and enough(entry.ratio) and entry.judged:
        return entry.judged.needed
    return None


def _amount(span: Span) -> str:
    """takes 12 to 30 % less time; takes 2.1 to 3 times as long; is 10 % higher."""
    item = span[0].item
    kind = bool(item and item.row), _verdict(span) == "MORE"
    times, shares = [], []
    for entry in span:
        if entry.ratio:
            value = entry.ratio.estimate.value
            times.append(max(value, 1 / value))
            shares.append(abs(value - 1))
    if min(times) >= _TWICE:
        return _TIMES[kind].format(_range(f"{min(times):.2g}", f"{max(times):.2g}"))
    return _SHARES[kind].format(_range(percent(min(shares)), percent(max(shares))))


def _range(low: str, high: str) -> str:
    if low == high:
        return high
    return f"{low.removesuffix(' %')} to {high}"


def _where(spans: Sequence[Span], all_spans: Sequence[Span]) -> str:
    """Returns the sizes in words; empty if there is only one span, or no size."""
    if len(all_spans) == 1:
        return ""
    sizes = [text for text in map(_sizes, spans) if text]
    if not sizes:
        return ""
    return f" {' and '.join(sizes)}"


def _sizes(span: Span) -> str:
    first, last = span[0].item, span[-1].item
    assert first is not None
    assert last is not None
    low, high = byte_count(first.message_bytes), byte_count(last.message_bytes)
    if low == high:
        return f"at {low}"
    return f"from {low} to {high}"


def _verdict(span: Span) -> str:
    """The verdict of the sizes; empty: they are not judged."""
    judged = span[0].judged
    if judged:
        return judged.verdict
    return ""
