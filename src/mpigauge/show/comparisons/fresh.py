# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Fresh data against static, for people: the sizes at which they differ, and a sentence for each
benchmark."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.model.units import byte_count, microseconds, number
from mpigauge.model.width import broken
from mpigauge.show.comparisons.beside import ends, error_of, in_unit, joined, what_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.cards import Cards
    from mpigauge.result.compare.comparison import ComparedNumber, Comparison, ComparisonTable
    from mpigauge.result.compare.match.items import Item

HEADING = "Fresh data against static"
HEADS = ("bytes", "", "static µs", "±", "fresh µs", "±", "write µs", "ratio", "95 %", "")


def fresh_lines(comparison: Comparison, cards: Cards) -> list[str]:
    """A table where anything differs, and below it what there is to say."""
    lines = []
    for table in comparison.tables:
        lines += [f"{HEADING} · {what_of([table.first], cards, comparison.varied)}"]
        rows = list(text_rows(table))
        if rows:
            lines += joined([HEADS, *rows])
        lines += [*broken(table.sentences), ""]
    return lines[:-1]


def text_rows(table: ComparisonTable) -> Iterator[tuple[str, ...]]:
    """A line for each size at which the two differ, as HEADS has them."""
    for static, fresh in table.differing:
        if static.item and fresh.item:
            size = byte_count(static.item.message_bytes)
            values = (*_value(static.item), *_value(fresh.item), _write(fresh.item))
            yield (size, "", *values, *_ratio(fresh))


def _value(item: Item) -> Sequence[str]:
    return in_unit(item), error_of(item)


def _write(item: Item) -> str:
    """The time of writing the data, which is not part of the time of the call."""
    if item.row is None or math.isnan(item.row.cell.time_write_s):
        return ""
    return microseconds(item.row.cell.time_write_s)


def _ratio(entry: ComparedNumber) -> Sequence[str]:
    if entry.ratio is None:
        return "", "", ""
    estimate = entry.ratio.estimate
    return number(estimate.value, estimate.error), ends(entry), entry.verdict
