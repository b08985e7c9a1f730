# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""From cache to memory: Triad's bandwidth, and the time of a load, over the size of an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.draw.axes import ARRAY, BANDWIDTH, TIME
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from mpigauge.result.node.node import NodeResult

_LOADS = {"Chase": "small pages", "Chase_huge": "huge pages"}


@plot("caches", "from cache to memory: Triad, and the time of a load, over the size of an array")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:  # noqa: ARG001
    several = len(shown) > 1
    speeds: list[Series] = []
    loads: list[Series] = []
    for each in shown:
        of = each.name if several else ""
        speeds += _speeds(each.node, of) if each.node else ()
        loads += _loads(each.node, of) if each.node else ()
    found = (
        Panel("Triad on one rank", ARRAY, BANDWIDTH, tuple(speeds)),
        Panel("One load on one rank", ARRAY, TIME, tuple(loads)),
    )
    panels = tuple(panel for panel in found if panel.series)
    about = "Each level of the memory is a step. Bands: the interval of each value."
    return picture(Plot("From cache to memory", about, panels)) if panels else None


def _speeds(found: NodeResult, of: str) -> Iterator[Series]:
    points = [
        Point.of(size, rows["Triad"].bandwidth)
        for size, rows in found.curves.items()
        if "Triad" in rows and rows["Triad"].bandwidth
    ]
    if len(points) > 1:
        yield Series(of or "Triad", tuple(points))


def _loads(found: NodeResult, of: str) -> Iterator[Series]:
    for name, pages in _LOADS.items():
        there = {size: rows[name] for size, rows in found.curves.items() if name in rows}
        points = [Point.of(size, row.latency) for size, row in there.items()]
        if len(points) > 1:
            yield Series(" · ".join(filter(None, (of, pages))), tuple(points))
