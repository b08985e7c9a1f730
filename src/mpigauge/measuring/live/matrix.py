# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Many cells on one screen: a line for each benchmark, a column for some of its sizes.

A cell is the time in µs; for benchmarks with many messages in flight it is their rate, with its
unit, since the time of a whole window is less useful. If there is room, the last column is the
shape of the line over all of its sizes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mpigauge.model.spark import sparkline
from mpigauge.model.units import byte_count, is_unknown, microseconds, plus_minus, rate
from mpigauge.model.width import cut_apart

if TYPE_CHECKING:
    from mpigauge.model.row import Row

NAME_WIDE = 20
SIZE_WIDE = 15
"""The width of a cell such as 24.3k/s ±>100%, and a gap."""
SHAPE_WIDE = 10
SHAPE_FROM = 60
"""The least columns of a terminal with shapes."""
NO_MESSAGE = -1
RowBySize = dict[int, "Row"]


def matrix(
    rows: Sequence[Row],
    precision: float,
    width: int,
    room: int = 1 << 20,
    first: Collection[str] = (),
    unicode: bool = True,
) -> Table:
    """The table, with at most this many lines; those of the benchmarks named `first` have
    priority."""
    lines = by_line(rows)
    shapes = width >= SHAPE_FROM and any(map(shape, lines.values()))
    left = width - NAME_WIDE - (SHAPE_WIDE + 1) * shapes
    sizes = some(shared_sizes(lines), left // SIZE_WIDE)
    table = plain_table()
    table.add_column("µs", no_wrap=True)
    for size in sizes:
        table.add_column(byte_count(size) or "–", justify="right", no_wrap=True)
    if shapes:
        table.add_column("over size", no_wrap=True)
    names = lines_that_fit(lines, room - 1, first)
    for name, short in zip(names, cut_apart(names, NAME_WIDE), strict=True):
        line = lines[name]
        cells: list[Text | str] = [short]
        for size in sizes:
            cells.append(_cell(line, size, sizes, precision))
        if shapes:
            cells.append(shape(line, unicode))
        table.add_row(*cells)
    return table


def shape(line: RowBySize, unicode: bool = True) -> str:
    """The shape of a line's times over all sizes; empty if there are too few."""
    values = []
    for size in sorted(line):
        if size != NO_MESSAGE:
            values.append(line[size].latency.value)
    if len(values) <= 2:
        return ""
    return sparkline(values, unicode, SHAPE_WIDE)


def plain_table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")


def by_line(rows: Sequence[Row]) -> dict[str, RowBySize]:
    """Rows by the name of a line: the benchmark, and the differences of its rows from others."""
    several = len({row.ranks for row in rows}) > 1
    lines: dict[str, RowBySize] = {}
    for row in rows:
        words = [row.benchmark]
        if several:
            words.append(str(row.ranks))
        if row.cell.cache == "cold":
            words.append("cold")
        if row.cell.placement:
            words.append(row.cell.placement)
        lines.setdefault(" ".join(words), {})[row.message_bytes] = row
    return lines


def lines_that_fit(lines: dict[str, RowBySize], room: int, first: Collection[str]) -> list[str]:
    """The lines that fit into the room, in their order; those of `first` are left out last."""
    ranked = sorted(lines, key=lambda name: _benchmark(lines[name]) not in first)
    kept = set(ranked[: max(1, room)])
    return [name for name in lines if name in kept]


def shared_sizes(lines: dict[str, RowBySize]) -> list[int]:
    """Sizes that all lines with messages have; all sizes if these are fewer than two."""
    held = []
    for line in lines.values():
        sizes = set(line) - {NO_MESSAGE}
        if sizes:
            held.append(sizes)
    if not held:
        return []
    shared = set.intersection(*held)
    if len(shared) < 2:
        shared = set.union(*held)
    return sorted(shared)


def some(values: Sequence[int], most: int) -> list[int]:
    """At most `most` of the values, evenly spaced, the first and the last among them."""
    ordered = sorted(set(values) - {NO_MESSAGE}) or [NO_MESSAGE]
    count = max(2, most)
    if len(ordered) <= count:
        return ordered
    step = (len(ordered) - 1) / (count - 1)
    return [ordered[round(i * step)] for i in range(count)]


def style(row: Row, precision: float) -> str:
    """The style of a row: green once it is precise enough."""
    if row.wrong_count:
        return "bold red"
    if row.relative_error <= precision:
        return "green"
    return "yellow"


def _benchmark(line: RowBySize) -> str:
    return next(iter(line.values())).benchmark


def _cell(line: RowBySize, size: int, sizes: Sequence[int], precision: float) -> Text:
    """The cell of a size; a benchmark without messages has its time in the first column."""
    row = line.get(size)
    if row is None and size == sizes[0]:
        row = line.get(NO_MESSAGE)
    if row is None:
        return Text("")
    mark = "…" if row.is_range else "±"
    return Text(f"{_number(row)} {mark}{_error(row)}", style=style(row, precision))


def _error(row: Row) -> str:
    error = row.relative_error
    if math.isnan(error) or is_unknown(-error, error):
        return "?"
    return plus_minus(error).removeprefix("±").replace(" ", "")


def _number(row: Row) -> str:
    if row.cell.inflight > 1 and row.rate is not None:
        return rate(row.rate.value).replace(" ", "")
    return microseconds(row.latency.value)
