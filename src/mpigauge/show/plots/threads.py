# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""STREAM's triad over the cores that are at work: as ranks, and as threads of one rank."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.draw.axes import CORES, Axis, bytes_per_s
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.model.units import dotted
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from mpigauge.result.node.node import NodeResult

_LOOPS = {"Triad": "plain", "Triad_tuned": "tuned"}
_SPEED = Axis("bandwidth", bytes_per_s)


@plot("threads", "bandwidth of Triad over the cores at work: ranks, or threads of one", choices=())
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:  # noqa: ARG001
    several = len(shown) > 1
    curves: list[Series] = []
    for each in shown:
        if each.node:
            curves += _curves(each.node, each.name if several else "")
    if not curves:
        return None
    about = (
        "Where a curve is flat, more cores bring no more. The plain loop is that of STREAM, the "
        "tuned one the fastest variant. Bands show the interval of each value."
    )
    panel = Panel("Triad in memory", CORES, _SPEED, tuple(curves))
    return picture(Plot("Memory over cores", about, (panel,)))


def _curves(node: NodeResult, of: str) -> Iterator[Series]:
    """Yields the curves that have two numbers of cores or more."""
    for name, points in (*_of_ranks(node), *_of_threads(node)):
        if len(points) > 1:
            yield Series(dotted(of, name), tuple(points))


def _of_ranks(node: NodeResult) -> Iterator[tuple[str, list[Point]]]:
    for benchmark, loop in _LOOPS.items():
        streams = [each for each in node.streams if each.row.cell.benchmark == benchmark]
        yield f"ranks, {loop}", [Point.of(each.ranks, each.bandwidth) for each in streams]


def _of_threads(node: NodeResult) -> Iterator[tuple[str, list[Point]]]:
    for sweep in node.sweeps:
        for benchmark, loop in _LOOPS.items():
            points = []
            for threads, speeds in sweep.speeds.items():
                if benchmark in speeds:
                    points.append(Point.of(threads, speeds[benchmark]))
            yield f"threads, {sweep.order}, {loop}", points
