# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The memory performance of each NUMA node's cores with the memory of each node, as a matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from mpigauge.draw.axes import bytes_per_s, seconds
from mpigauge.draw.document import side_by_side
from mpigauge.draw.plot import Picture
from mpigauge.draw.scale import ColourScale
from mpigauge.draw.squares import ink_on, square
from mpigauge.draw.styles import text, words
from mpigauge.draw.terminal.heat import on
from mpigauge.model.units import UNKNOWN, plus_minus
from mpigauge.model.width import broken
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate
    from mpigauge.model.screen import Screen
    from mpigauge.result.node.threads import Placed

_LEFT, _TOP, _WIDE, _HIGH, _FOOT = 96, 66, 92, 44, 46
_LEAST_WIDE = 360
_COLUMN = 12


@dataclass(frozen=True)
class _Matrix:
    """One number of each pair of nodes."""

    title: str
    unit: Callable[[float], str]
    cells: dict[tuple[str, str], Estimate]
    """The values by the nodes of cores and memory."""
    is_time: bool

    @property
    def rows(self) -> list[str]:
        return list(dict.fromkeys(compute for compute, _ in self.cells))

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(memory for _, memory in self.cells))

    @property
    def scale(self) -> ColourScale:
        """A scale of how slow each pair of nodes is."""
        return ColourScale.of(map(self.slow, self.cells.values()))

    def slow(self, of: Estimate) -> float:
        """More where it takes longer."""
        if self.is_time:
            return of.value
        return 1 / of.value

    @property
    def size(self) -> tuple[int, int]:
        wide = max(_LEFT + _WIDE * len(self.columns) + 20, _LEAST_WIDE)
        return wide, _TOP + _HIGH * len(self.rows) + _FOOT


@plot(
    "memory",
    "cores of each NUMA node by memory of each: bandwidth and the time of a load",
    choices=(),
)
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:  # noqa: ARG001
    matrices: list[_Matrix] = []
    for each in shown:
        if each.node:
            of = f"{each.name}: " if len(shown) > 1 else ""
            matrices += _matrices(each.node.places, of)
    if not matrices:
        return None
    rows: list[tuple[str, ...]] = []
    for matrix in matrices:
        rows += _rows(matrix)
    return Picture(
        title="Memory of each NUMA node",
        about=(
            "Rows are the NUMA nodes of the cores, columns those of the memory. Darker squares are "
            "slower; each picture has a scale of its own."
        ),
        svg=_beside(matrices),
        heads=("", "cores of", "memory of", "measured", "±"),
        rows=tuple(rows),
        fixed=True,
        leading=tuple(_beside([matrix]) for matrix in matrices),
        lines=partial(_lines, matrices),
    )


def _matrices(places: Sequence[Placed], of: str) -> Iterator[_Matrix]:
    speeds: dict[tuple[str, str], Estimate] = {}
    loads: dict[tuple[str, str], Estimate] = {}
    for place in places:
        if place.bandwidth:
            speeds[place.compute, place.memory] = place.bandwidth
        if place.load:
            loads[place.compute, place.memory] = place.load
    if len(speeds) > 1:
        yield _Matrix(f"{of}Triad", bytes_per_s, speeds, is_time=False)
    if len(loads) > 1:
        yield _Matrix(f"{of}One load, in huge pages", seconds, loads, is_time=True)


def _node(name: str) -> str:
    """node 0, interleaved; cores that nobody named are those of the run."""
    if name[:1].isdecimal():
        return f"node {name}"
    return name or "its cores"


def _rows(matrix: _Matrix) -> Iterator[tuple[str, ...]]:
    for (compute, memory), of in matrix.cells.items():
        error = plus_minus(of.relative_error)
        yield matrix.title, _node(compute), _node(memory), matrix.unit(of.value), error


def _beside(matrices: Sequence[_Matrix]) -> str:
    label = "; ".join(f"{matrix.title}, by NUMA nodes" for matrix in matrices)
    return side_by_side([(_drawn(matrix), matrix.size) for matrix in matrices], label)


def _drawn(matrix: _Matrix) -> Iterator[str]:
    scale = matrix.scale
    yield text(_LEFT, 22, matrix.title, "ink", size=14)
    yield text(_LEFT, 40, "memory of", "dim", size=11)
    yield text(_LEFT - 8, _TOP - 8, "cores of", "dim", "end", 11)
    for across, memory in enumerate(matrix.columns):
        yield text(_LEFT + (across + 0.5) * _WIDE, _TOP - 8, _node(memory), "ink", "middle", 11)
    for down, compute in enumerate(matrix.rows):
        y = _TOP + down * _HIGH
        yield text(_LEFT - 8, y + _HIGH / 2 + 4, _node(compute), "ink", "end", 11)
        for across, memory in enumerate(matrix.columns):
            of = matrix.cells.get((compute, memory))
            if of is None:
                continue
            x, value = _LEFT + across * _WIDE, matrix.unit(of.value)
            error = plus_minus(of.relative_error)
            label = f"cores of {_node(compute)}, memory of {_node(memory)}: {value} {error}"
            ink = ink_on(matrix.slow(of), scale)
            yield square(x, y, _WIDE, _HIGH, matrix.slow(of), scale, label)
            yield _on(x + _WIDE / 2, y + 20, value, 12, ink)
            yield _on(x + _WIDE / 2, y + 35, error, 10, ink)


def _on(x: float, y: float, label: str, size: int, ink: str) -> str:
    """Words on a square, in a colour of their own."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-size="{size}" fill="{ink}">'
        f"{words(label)}</text>"
    )


def _lines(matrices: Sequence[_Matrix], screen: Screen) -> Iterator[str]:
    """Lines for a terminal: cores in rows, memory in columns, as many side by side as fit."""
    most = max(1, screen.width // _COLUMN - 1)
    for number, matrix in enumerate(matrices):
        if number > 0:
            yield ""
        yield from broken([f"{matrix.title}: cores in rows, memory in columns"], width=screen.width)
        for first in range(0, len(matrix.columns), most):
            memories = matrix.columns[first : first + most]
            yield f"{'':{_COLUMN}}" + "".join(f"{_node(each):>{_COLUMN}}" for each in memories)
            for compute in matrix.rows:
                line = f"{_node(compute):>{_COLUMN}}"
                for memory in memories:
                    line += _cell(matrix, compute, memory, screen)
                yield line


def _cell(matrix: _Matrix, compute: str, memory: str, screen: Screen) -> str:
    of = matrix.cells.get((compute, memory))
    if of is None:
        return f"{UNKNOWN:>{_COLUMN}}"
    return on(f"{matrix.unit(of.value):>{_COLUMN}}", matrix.slow(of), matrix.scale, screen)
