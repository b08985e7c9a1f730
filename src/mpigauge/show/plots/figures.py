# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Numbers that are no times of calls, such as GB/s of STREAM, over what was varied: a number, or
names such as those of placements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.draw.axes import Axis, in_unit, plain
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate
    from mpigauge.result.compare.items import Item

Key = tuple[str, str, str]
"""Benchmark, what is varied, unit."""
Values = dict[str, list[tuple[float | str, "Estimate"]]]
"""By the name of the curve: over numbers or names."""


@plot("figures", "numbers that are no times (STREAM, HPL) over threads, ranks or a setting")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    found: dict[Key, Values] = {}
    for each in shown:
        for item in each.figure_items:
            if chosen.benchmark.lower() not in ("", item.benchmark.lower()):
                continue
            for varied, x in _varied(item):
                name = item.what if len(shown) == 1 else f"{item.what} · {each.name}"
                curves = found.setdefault((item.benchmark, varied, item.unit), {})
                curves.setdefault(name, []).append((x, item.value))
            if len(shown) > 1:
                curves = found.setdefault((item.benchmark, "run", item.unit), {})
                curves.setdefault(item.what, []).append((each.name, item.value))
    panels = tuple(_panels(found))
    about = "Each number over what was varied. Bands: the interval, or the range of launches."
    return picture(Plot("Figures", about, panels)) if panels else None


def _varied(item: Item) -> Iterator[tuple[str, float | str]]:
    """What a figure may stand over: a setting that is a number, the name of a setting or of a
    placement, else its ranks."""
    columns = dict(item.columns)
    arm = str(columns.get("arm", ""))
    name, _, value = arm.partition("=")
    if value.isdigit():
        yield name, float(value)
    elif arm:
        yield "setting", arm
    elif columns.get("ranks"):
        yield "ranks", float(columns["ranks"])


def _panels(found: Mapping[Key, Values]) -> Iterator[Panel]:
    """Of what was varied twice or more; names are things beside each other, which no line joins.
    Runs are, where each has one value."""
    for (benchmark, varied, unit), curves in found.items():
        known = [x for of in curves.values() for x, _ in of]
        names = tuple(dict.fromkeys(x for x in known if isinstance(x, str)))
        axis = Axis.of_names(varied, names) if names else Axis(varied, plain)
        series = tuple(_series(name, of, names) for name, of in curves.items())
        kept = tuple(each for each in series if len({point.x for point in each.points}) > 1)
        alone = all(len(of) == len({x for x, _ in of}) for of in curves.values())
        if kept and (alone or varied != "run"):
            panel = Panel(benchmark, axis, in_unit(unit), kept)
            yield replace(panel, style="dots") if names else panel


def _series(name: str, of: Sequence[tuple[float | str, Estimate]], names: Sequence[str]) -> Series:
    """From left to right; names in the order in which they first appear."""
    placed = ((names.index(x) if isinstance(x, str) else x, value) for x, value in of)
    points = (Point.of(x, value) for x, value in placed)
    return Series(name, tuple(sorted(points, key=lambda point: point.x)))
