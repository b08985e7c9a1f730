# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What people ask first: the numbers that are quoted of a machine, and what runs show in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.draw.axes import bytes_per_s
from mpigauge.model.units import byte_count, duration, many, percent, plus_minus, rate
from mpigauge.result.compare.best import best_lines
from mpigauge.result.compare.summary import of_all, of_curves, summaries
from mpigauge.result.words import cell_name
from mpigauge.show.limits import entries
from mpigauge.show.titles import resting_on

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate, Row
    from mpigauge.result.compare.compare import Comparison
    from mpigauge.result.compare.pivot import Pivot
    from mpigauge.result.stats.headline import Headline
    from mpigauge.show.kinds import Shown


MOST_OPENING = 3
_SURE = 0.05
"""Numbers with no wider an interval are said to be known."""


@dataclass(frozen=True)
class QuotedNumber:
    """A number that people quote."""

    label: str
    value: str
    error: str
    where: str


@dataclass(frozen=True)
class TitledText:
    """Sentences under a title."""

    title: str
    sentences: tuple[str, ...]


def opening(shown: Shown, comparison: Comparison | None) -> tuple[str, ...]:
    """What the page says first: of several runs which is faster and by how much, of one with
    several settings or placements which is best, and of any other how sure its numbers are."""
    if comparison:
        found = of_all(comparison) or [
            said for table in comparison.tables for said in of_curves(comparison, table)
        ]
        return tuple(found[:MOST_OPENING])
    if shown.across and (best := list(_best_over_sizes(shown.across))):
        return tuple(best[:MOST_OPENING])
    rows = [row for row in shown.document.rows if math.isfinite(row.relative_error)]
    if not rows:
        return ()
    sure = sum(row.relative_error <= _SURE and not row.is_range for row in rows)
    widest = max(rows, key=lambda row: row.relative_error)
    known = f"{sure} of {many(len(rows), 'number')} are known within ±{100 * _SURE:g} %"
    return (f"{known}; the least certain is {cell_name(widest)}, {widest.error_words}.",)


def _best_over_sizes(across: Pivot) -> Iterator[str]:
    """A sentence for each table in which one column is best over all sizes, with certainty."""
    for table in across.tables:
        if table.choice.outcome != "best" or len(table.choice.columns) != 1:
            continue
        (place,) = table.choice.columns
        base, mean = table.names[table.base], table.overall[place]
        ranks = dict(table.first.columns).get("ranks")
        on = f" on {many(ranks, 'rank')}" if ranks else ""
        what = f"{table.first.benchmark}{on}"
        if mean is None:
            yield f"{what}: {base} is the best over all sizes."
            continue
        ratio = mean.ratio.estimate
        yield (
            f"{what}: {table.names[place]} takes {percent(1 - ratio.value)} less time than {base} "
            f"over all sizes ({ratio.low:.3g} to {ratio.high:.3g} × its time)."
        )


def answers(shown: Shown) -> Iterator[QuotedNumber]:
    """Of the default settings where several were measured, with the best beside them."""
    head = shown.document.headline
    if head is None:
        return
    if head.zero and head.latency_s:
        where = " · ".join(filter(None, _whose(head, head.zero)))
        label = f"Latency of {byte_count(head.zero.message_bytes)}"
        yield _answer(label, duration, head.zero, head.latency_s, where)
        yield from _best(shown, label, head.zero)
    if head.peak and head.peak_bandwidth:
        at = f"at {byte_count(head.peak.message_bytes)}"
        where = " · ".join(filter(None, (at, *_whose(head, head.peak))))
        yield _answer("Highest bandwidth", bytes_per_s, head.peak, head.peak_bandwidth, where)
        yield from _best(shown, f"Time of {byte_count(head.peak.message_bytes)}", head.peak)
    if head.busiest and head.message_rate:
        at = byte_count(head.busiest.message_bytes)
        flying = f"{head.busiest.cell.inflight} in flight"
        where = " · ".join(filter(None, (at, flying, *_whose(head, head.busiest))))
        yield _answer("Message rate", rate, head.busiest, head.message_rate, where)


def _whose(head: Headline, row: Row) -> tuple[str, ...]:
    """Of which benchmark, place and settings, and what its error rests on."""
    return row.benchmark, row.cell.placement, head.setting_of(row), resting_on(row)


def _best(shown: Shown, label: str, row: Row) -> Iterator[QuotedNumber]:
    """The best setting for just this row and what it gains, where one is known to be better."""
    arms = shown.arms
    lines = (line for table in arms.tables for line in best_lines(arms, table)) if arms else ()
    for line in lines:
        best, of = line.best, line.first.row
        if best and best.entry.item and best.entry.ratio and of and of.cell.key == row.cell.key:
            value, ratio = best.entry.item.value, best.entry.ratio.estimate
            gain = f"{percent(1 - ratio.value)} less ({ratio.low:.3g} … {ratio.high:.3g} ×)"
            where = " · ".join((of.benchmark, f"with {best.name}", gain))
            error = plus_minus(value.relative_error)
            yield QuotedNumber(f"{label}, best setting", duration(value.value), error, where)


def _answer(
    label: str, words: Callable[[float], str], row: Row, of: Estimate, where: str
) -> QuotedNumber:
    return QuotedNumber(label, words(of.value), row.error_text(of), where)


def against_limits(shown: Shown) -> Iterator[TitledText]:
    """How far messages are from what the hardware of the node can do."""
    if found := shown.document.limits:
        said = (": ".join(filter(None, pair)) + "." for pair in entries(found))
        yield TitledText(f"Limits of the node ({found.whose})", tuple(said))


def verdicts(comparison: Comparison | None) -> Iterator[TitledText]:
    """What the runs show against the first, in words."""
    if comparison is None:
        return
    for table in comparison.tables:
        first = table.first
        ranks = dict(first.columns).get("ranks")
        on = f"on {many(ranks, 'rank')}" if ranks else ""
        words = (first.benchmark, "" if first.row else first.what, on)
        said = (*summaries(comparison, table), *of_curves(comparison, table))
        if said:
            yield TitledText(
                f"{' '.join(filter(None, words))}, against {comparison.names[0]}", said
            )
    if together := of_all(comparison):
        yield TitledText(f"All together, against {comparison.names[0]}", tuple(together))
