# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A comparison in a sentence for each table and side: how much faster, from which size to which."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from mpigauge.model.units import as_percent, byte_count, number, percent
from mpigauge.result.stats.verdicts import enough

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.result.compare.comparison import (
        ComparedNumber,
        Comparison,
        ComparisonTable,
        Overall,
    )

_TWICE = 2.0
"""From here on a ratio is said as a factor, below it as a percentage."""
_TIMES = {
    (True, True): "takes {} times as long",
    (True, False): "is {} times as fast",
    (False, True): "is {} times as high",
    (False, False): "is {} times as low",
}
"""By whether it is a time, and whether it is more."""
_SHARES = {
    (True, True): "takes {} more time",
    (True, False): "takes {} less time",
    (False, True): "is {} higher",
    (False, False): "is {} lower",
}
Span = list["ComparedNumber"]
"""Sizes that follow each other and have the same verdict."""


def in_words(comparison: Comparison) -> Comparison:
    """The same comparison with the sentences that its tables and all of it are summed up in."""
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
    for name, found in zip(comparison.names, table.overall, strict=True):
        if found:
            where = f"Over all {found.numbers} sizes"
            yield _overall(where, name, comparison.names[0], found)


def _of_all(comparison: Comparison) -> Iterator[str]:
    """A sentence for each side of which all times are judged as a whole."""
    sides = zip(comparison.names, comparison.overall, strict=False)
    for side, (name, found) in enumerate(sides):
        if found:
            where = f"Over all {found.numbers} times together"
            said = _overall(where, name, comparison.names[0], found)
            yield said + _both_ways(comparison, side)


def _both_ways(comparison: Comparison, side: int) -> str:
    """Where some times are shorter and others longer, how many; empty elsewhere."""
    judged = [each.judged.said for table in comparison.tables for each in table.column(side)
              if each.judged]  # fmt: skip
    less, more = judged.count("LESS"), judged.count("MORE")
    return f" Of these {less} are shorter and {more} longer." if less and more else ""


def _overall(where: str, name: str, first: str, found: Overall) -> str:
    """Over all 5 sizes B takes 1.30 (1.29 to 1.31) times as long as A: SLOWER."""
    value, low, high = (number(each, found.ratio.estimate.error) for each in found.ratio.estimate)
    said = found.verdict
    if found.undecided:
        said += f" ({found.undecided})"
    if not math.isfinite(found.ratio.log):
        return f"{where} {name} is {said}."
    ends = f" ({low} to {high})" if found.ratio.error > 0 else ""
    return f"{where} {name} takes {value}{ends} times as long as {first}: {said}."


def _sentence(entries: Sequence[ComparedNumber], tolerance: float) -> str:
    spans = [list(span) for _, span in groupby(entries, key=lambda entry: entry.verdict)]
    parts = [*_changes(spans), *_same(spans, tolerance), *_open(spans)]
    return "; ".join(parts)


def _changes(spans: Sequence[Span]) -> Iterator[str]:
    for span in spans:
        if _said(span) in ("LESS", "MORE"):
            yield f"{_amount(span)}{_where([span], spans)}"


def _same(spans: Sequence[Span], tolerance: float) -> Iterator[str]:
    same = [span for span in spans if _said(span) == "SAME"]
    if same:
        yield f"is the same within {as_percent(tolerance)}{_where(same, spans)}"


def _open(spans: Sequence[Span]) -> Iterator[str]:
    left = [span for span in spans if _said(span) == "UNDECIDED"]
    if left:
        why = "; ".join(_reasons([entry for span in left for entry in span]))
        yield f"is undecided{_where(left, spans)} ({why})"


def _reasons(entries: Sequence[ComparedNumber]) -> Iterator[str]:
    """How many launches would decide, from the fewest to the most, then every other reason once."""
    counted = [entry for entry in entries if _counted(entry)]
    needed = sorted(entry.judged.needed or 0 for entry in counted if entry.judged)
    if needed:
        yield f"about {_range(str(needed[0]), str(needed[-1]))} launches of each would decide"
    yield from dict.fromkeys(entry.undecided for entry in entries if not _counted(entry))


def _counted(entry: ComparedNumber) -> bool:
    """Whether so many launches more would decide it."""
    return bool(entry.ratio and enough(entry.ratio) and entry.judged and entry.judged.needed)


def _amount(span: Span) -> str:
    """takes 12 to 30 % less time; takes 2.1 to 3 times as long; is 10 % higher."""
    item = span[0].item
    kind = bool(item and item.row), _said(span) == "MORE"
    ratios = sorted(entry.ratio.estimate.value for entry in span if entry.ratio)
    times = sorted(max(each, 1 / each) for each in ratios)
    if times[0] >= _TWICE:
        return _TIMES[kind].format(_range(f"{times[0]:.2g}", f"{times[-1]:.2g}"))
    shares = sorted(abs(each - 1) for each in ratios)
    return _SHARES[kind].format(_range(percent(shares[0]), percent(shares[-1])))


def _range(low: str, high: str) -> str:
    return high if low == high else f"{low.removesuffix(' %')} to {high}"


def _where(spans: Sequence[Span], all_spans: Sequence[Span]) -> str:
    """At which sizes; nothing where there is only one kind, or no size."""
    if len(all_spans) == 1:
        return ""
    said = [text for span in spans if (text := _sizes(span))]
    return " " + " and ".join(said) if said else ""


def _sizes(span: Span) -> str:
    ends = [byte_count(entry.item.message_bytes) for entry in (span[0], span[-1]) if entry.item]
    first, last = ends
    return f"at {first}" if first == last else f"from {first} to {last}"


def _said(span: Span) -> str:
    judged = span[0].judged
    return judged.said if judged else ""
