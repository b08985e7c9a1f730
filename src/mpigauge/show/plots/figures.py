# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Numbers that are not times of calls, such as GB/s of STREAM, over what was varied: a number, or
names such as those of placements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mpigauge.draw.axes import Axis, in_unit, plain
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate
    from mpigauge.result.compare.match.items import Item

Key = tuple[str, str, str]
"""Benchmark, what is varied, unit."""
Values = dict[str, list[tuple[float | str, "Estimate"]]]
"""The values of each curve, over numbers or names, by its name."""


@plot("figures", "numbers that are not times (STREAM, HPL) over threads, ranks or a setting")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    figures: dict[Key, Values] = {}
    several = len(shown) > 1
    for each in shown:
        for item in each.figure_items:
            if chosen.benchmark.lower() not in ("", item.benchmark.lower()):
                continue
            name = f"{item.what} · {each.name}" if several else item.what
            for varied, x in _varied(item):
                _add(figures, (item.benchmark, varied, item.unit), name, x, item.value)
            if several:
                _add(figures, (item.benchmark, "run", item.unit), item.what, each.name, item.value)
    panels = tuple(_panels(figures))
    if not panels:
        return None
    about = "The x axis is what was varied. Bands show the interval, or the range of launches."
    return picture(Plot("Figures", about, panels))


def _add(figures: dict[Key, Values], key: Key, curve: str, x: float | str, value: Estimate) -> None:
    figures.setdefault(key, {}).setdefault(curve, []).append((x, value))


def _varied(item: Item) -> Iterator[tuple[str, float | str]]:
    """The axes for a figure: a numeric setting, the name of a setting or placement, else its
    ranks."""
    columns = dict(item.columns)
    arm = str(columns.get("arm", ""))
    name, _, value = arm.partition("=")
    if value.isdigit():
        yield name, float(value)
    elif arm:
        yield "setting", arm
    elif columns.get("ranks"):
        yield "ranks", float(columns["ranks"])


def _panels(figures: Mapping[Key, Values]) -> Iterator[Panel]:
    """A panel for each figure with two values or more. Names are separate points without a line, as
    are runs with one value each."""
    for (benchmark, varied, unit), curves in figures.items():
        if varied == "run" and _has_twice(curves):
            continue
        names = _names(curves)
        series = []
        for name, of in curves.items():
            if len({x for x, _ in of}) > 1:
                series.append(_series(name, of, names))
        if not series:
            continue
        y = in_unit(unit)
        if names:
            axis = Axis.of_names(varied, names)
            yield Panel(benchmark, axis, y, tuple(series), style="dots")
        else:
            yield Panel(benchmark, Axis(varied, plain), y, tuple(series))


def _has_twice(curves: Values) -> bool:
    """True if a curve has several values at one place."""
    for of in curves.values():
        places = [x for x, _ in of]
        if len(set(places)) < len(places):
            return True
    return False


def _names(curves: Values) -> tuple[str, ...]:
    """The names that values stand over, in the order in which they first appear."""
    names: dict[str, None] = {}
    for of in curves.values():
        for x, _ in of:
            if isinstance(x, str):
                names[x] = None
    return tuple(names)


def _series(name: str, of: Sequence[tuple[float | str, Estimate]], names: Sequence[str]) -> Series:
    """The curve from left to right; names stand in the order in which they first appear."""
    points = []
    for x, value in of:
        place = names.index(x) if isinstance(x, str) else x
        points.append(Point.of(place, value))
    points.sort(key=lambda point: point.x)
    return Series(name, tuple(points))
