# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Many cells on one screen: a line for each benchmark, a column for some of its sizes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mpigauge.model.units import byte_count, microseconds, percent

if TYPE_CHECKING:
    from mpigauge.model.row import Row

NAME_WIDE = 20
SIZE_WIDE = 12
NO_MESSAGE = -1
Line = dict[int, "Row"]


def matrix(
    rows: Sequence[Row],
    precision: float,
    width: int,
    room: int = 1 << 20,
    first: Collection[str] = (),
) -> Table:
    """At most so many lines, those of the benchmarks named `first` before others."""
    lines = by_line(rows)
    sizes = some([row.message_bytes for row in rows], (width - NAME_WIDE) // SIZE_WIDE)
    table = plain_table()
    table.add_column("µs", no_wrap=True, max_width=NAME_WIDE - 2)
    for size in sizes:
        table.add_column(byte_count(size) or "–", justify="right", no_wrap=True)
    for name in shown(lines, room - 1, first):
        table.add_row(name, *(_cell(lines[name], size, sizes, precision) for size in sizes))
    return table


def plain_table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")


def by_line(rows: Sequence[Row]) -> dict[str, Line]:
    several = len({row.ranks for row in rows}) > 1
    lines: dict[str, Line] = {}
    for row in rows:
        name = f"{row.benchmark} {row.ranks}" if several else row.benchmark
        cold = " cold" if row.cell.cache == "cold" else ""
        lines.setdefault(name + cold, {})[row.message_bytes] = row
    return lines


def shown(lines: dict[str, Line], room: int, first: Collection[str]) -> list[str]:
    """In the order of lines; those of `first` are left out last."""
    ranked = sorted(lines, key=lambda name: _benchmark(lines[name]) not in first)
    kept = set(ranked[: max(1, room)])
    return [name for name in lines if name in kept]


def some(values: Sequence[int], most: int) -> list[int]:
    """The values, or so many of them evenly chosen, the first and the last among them."""
    ordered = sorted(set(values) - {NO_MESSAGE}) or [NO_MESSAGE]
    count = max(2, most)
    if len(ordered) <= count:
        return ordered
    step = (len(ordered) - 1) / (count - 1)
    return [ordered[round(i * step)] for i in range(count)]


def style(row: Row, precision: float) -> str:
    """Green when a row knows what it was asked to know."""
    if row.wrong_count:
        return "bold red"
    return "green" if row.relative_error <= precision else "yellow"


def _benchmark(line: Line) -> str:
    return next(iter(line.values())).benchmark


def _cell(line: Line, size: int, sizes: Sequence[int], precision: float) -> Text:
    """A benchmark without messages has its time in the first column."""
    row = line.get(size) or (line.get(NO_MESSAGE) if size == sizes[0] else None)
    if row is None:
        return Text("")
    error = percent(row.relative_error).replace(" ", "")
    return Text(f"{microseconds(row.latency.value)} ±{error}", style=style(row, precision))
