# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Two networks beside each other: a line for each share, hot spot, impact and host."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.model.cards import benchmark_word
from mpigauge.model.row import NOTHING
from mpigauge.model.units import as_percent, decimals, first_few, many, number
from mpigauge.model.width import broken, right_aligned, widths
from mpigauge.result.compare.match.items import SECONDS
from mpigauge.result.fabric.fabric import SPOTS, WAYS
from mpigauge.result.fabric.impact import SUITE, impact_name
from mpigauge.result.fabric.items import BYTES_PER_S, HOSTS, IMPACT, SHARE, TAIL
from mpigauge.show.comparisons.beside import counts_of_verdicts, ends

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.result.compare.comparison import ComparedNumber, Comparison
    from mpigauge.result.compare.match.items import Item

Line = tuple["ComparedNumber", "ComparedNumber"]
_MOST_HOSTS = 16
"""The most hosts that have a line each; of more, those that are the same are counted."""
_TITLES = {
    SHARE: "all at once, × alone",
    "pairs": "all at once, MB/s",
    "spots": "hot spots, MB/s",
    "alone": "victims alone, µs",
    IMPACT: "beside aggressors, × alone",
    "hosts": "bandwidth of hosts, × peers",
}


def blocks(comparison: Comparison) -> Iterator[list[str]]:
    """Yields the count of the verdicts of each other run and its tables, then how it was
    judged."""
    lines = [line for table in comparison.tables for line in table.lines]
    for place, summary in enumerate(counts_of_verdicts(comparison), 1):
        pairs = [(line[0], line[place]) for line in lines if line[0].item and line[place].item]
        yield broken([summary])
        by_title: dict[str, list[Line]] = {title: [] for title in _TITLES.values()}
        for pair in pairs:
            by_title[_TITLES[_kind_of(_item(pair))]].append(pair)
        yield from _tables(by_title)
    yield broken(_remarks(comparison))


def _item(pair: Line) -> Item:
    assert pair[0].item is not None
    return pair[0].item


def _kind_of(item: Item) -> str:
    """The table to which a number belongs."""
    if item.benchmark == HOSTS:
        return "hosts"
    if item.what in (SHARE, IMPACT):
        return item.what
    if item.what == TAIL:
        return IMPACT
    if item.unit != BYTES_PER_S:
        return "alone"
    return "spots" if _name(item) in SPOTS else "pairs"


def _name(item: Item) -> str:
    return item.benchmark.removeprefix(benchmark_word(SUITE, ""))


def _label(item: Item) -> str:
    name = _name(item)
    if item.benchmark == HOSTS:
        return item.what
    if name in WAYS:
        return WAYS[name]
    if name in SPOTS:
        return f"{SPOTS[name]}, {dict(item.columns)['ranks']} ranks"
    if item.what == TAIL:
        return "  99 %"
    victim, _, aggressor = name.partition("_")
    return f"{impact_name(victim, item.message_bytes)} {aggressor}".rstrip()


def _tables(by_title: dict[str, list[Line]]) -> Iterator[list[str]]:
    """All tables with the same columns; a table of many hosts has those that differ."""
    rows: list[tuple[str, ...]] = []
    for title, pairs in by_title.items():
        if not pairs:
            continue
        shown = pairs
        if title == _TITLES["hosts"] and len(pairs) > _MOST_HOSTS:
            shown = [pair for pair in pairs if pair[1].verdict != "SAME"]
        rows.append((title, "first", "this", "ratio", "95 %", ""))
        rows += [_row(pair) for pair in shown]
        if len(shown) < len(pairs):
            rows.append((f"{many(len(pairs) - len(shown), 'other')}", "", "", "", "", "SAME"))
    wide = widths(rows)
    table: list[str] = []
    for label, *numbers, verdict in rows:
        if numbers[0] == "first" and table:
            yield table
            table = []
        middle = right_aligned(numbers, wide[1:-1])
        table.append(f"{label:<{wide[0]}} {middle} {verdict}".rstrip())
    yield table


def _row(pair: Line) -> tuple[str, ...]:
    first, other = pair
    assert first.item is not None
    assert other.item is not None
    ratio = other.ratio.estimate if other.ratio else NOTHING
    words = number(ratio.value, ratio.error)
    return (
        *(_label(first.item), _value(first.item), _value(other.item)),
        *(words, ends(other), other.verdict),
    )


def _value(item: Item) -> str:
    """A number with its error."""
    scale = {BYTES_PER_S: 1e-6, SECONDS: 1e6}.get(item.unit, 1.0)
    value = item.value.times(scale)
    digits = decimals(value.value, value.error)
    if not math.isfinite(value.error):
        return f"{value.value:.{digits}f}±?"
    return f"{value.value:.{digits}f}±{value.error:.{digits}f}"


def _remarks(comparison: Comparison) -> Iterator[str]:
    """Yields how it was judged, and what was left out."""
    within = as_percent(comparison.tolerance)
    yield (
        f"The ratio of the medians over rounds is to {comparison.names[0]}. SAME: its interval "
        f"lies within ±{within}; else it has to differ from 1 at 5 % after Holm's correction over "
        f"{many(len(comparison.entries), 'ratio')}. UNDECIDED: the interval is too wide for "
        "either, or there are fewer than six rounds; a longer --time has more."
    )
    for words in comparison.unlike:
        yield f"Measured otherwise: {words}."
    if comparison.left_out:
        names = first_few(left.benchmark for left in comparison.left_out)
        yield f"Left out, as one of the runs has not measured them: {names}."
