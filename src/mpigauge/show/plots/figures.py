# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Numbers that are no times of calls, such as GB/s of STREAM, over the number that was varied."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.draw.axes import Axis, in_unit, plain
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.result.compare.items import items
from mpigauge.show.kinds import Chosen, Shown, plot

if TYPE_CHECKING:
    from mpigauge.result.compare.items import Item

Key = tuple[str, str, str]
"""Benchmark, what is varied, unit."""


@plot("figures", "numbers that are no times (STREAM, HPL) over threads, ranks or a setting")
def draw(shown: Sequence[Shown], chosen: Chosen) -> Picture | None:
    found: dict[Key, dict[str, list[Point]]] = {}
    for each in shown:
        for item in items((), each.document.figures):
            if chosen.benchmark.lower() not in ("", item.benchmark.lower()):
                continue
            for varied, x in _varied(item):
                name = item.what if len(shown) == 1 else f"{item.what} · {each.name}"
                curves = found.setdefault((item.benchmark, varied, item.unit), {})
                curves.setdefault(name, []).append(Point.of(x, item.value))
    panels = tuple(_panels(found))
    about = "Each number over what was varied. Bands: the interval, or the range of launches."
    return picture(Plot("Figures", about, panels)) if panels else None


def _varied(item: Item) -> Iterator[tuple[str, float]]:
    """What a figure may stand over: a setting that is a number, else its ranks."""
    columns = dict(item.columns)
    name, _, value = str(columns.get("arm", "")).partition("=")
    if value.isdigit():
        yield name, float(value)
    elif not name and columns.get("ranks"):
        yield "ranks", float(columns["ranks"])


def _panels(found: dict[Key, dict[str, list[Point]]]) -> Iterator[Panel]:
    for (benchmark, varied, unit), curves in found.items():
        kept = {
            name: sorted(points, key=lambda point: point.x)
            for name, points in curves.items()
            if len({point.x for point in points}) > 1
        }
        if kept:
            series = tuple(Series(name, tuple(points)) for name, points in kept.items())
            yield Panel(benchmark, Axis(varied, plain), in_unit(unit), series)
