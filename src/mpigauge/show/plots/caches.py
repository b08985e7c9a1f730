# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Triad's bandwidth and the time of a load over the size of an array, from cache to memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.draw.axes import ARRAY, BANDWIDTH, TIME
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.model.units import dotted
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from mpigauge.result.node.node import NodeResult

_LOADS = {"Chase": "small pages", "Chase_huge": "huge pages"}


@plot(
    "caches",
    "from cache to memory: Triad, and the time of a load, over the size of an array",
    choices=(),
)
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:  # noqa: ARG001
    several = len(shown) > 1
    speeds: list[Series] = []
    loads: list[Series] = []
    for each in shown:
        if each.node:
            of = each.name if several else ""
            speeds += _speeds(each.node, of)
            loads += _loads(each.node, of)
    candidates = (
        Panel("Triad on one rank", ARRAY, BANDWIDTH, tuple(speeds)),
        Panel("One load on one rank", ARRAY, TIME, tuple(loads)),
    )
    panels = tuple(panel for panel in candidates if panel.series)
    if not panels:
        return None
    about = "Each level of the memory is a step. Bands show the interval of each value."
    return picture(Plot("From cache to memory", about, panels))


def _speeds(node: NodeResult, of: str) -> Iterator[Series]:
    points = []
    for size, rows in node.curves.items():
        if "Triad" in rows and rows["Triad"].bandwidth:
            points.append(Point.of(size, rows["Triad"].bandwidth))
    if len(points) > 1:
        yield Series(of or "Triad", tuple(points))


def _loads(node: NodeResult, of: str) -> Iterator[Series]:
    for name, pages in _LOADS.items():
        points = []
        for size, rows in node.curves.items():
            if name in rows:
                points.append(Point.of(size, rows[name].latency))
        if len(points) > 1:
            yield Series(dotted(of, pages), tuple(points))
