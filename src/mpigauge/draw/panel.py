# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One panel of a plot: its axes, and curves with their bands, points and marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from mpigauge.draw import level_lines
from mpigauge.draw.axes import Scale
from mpigauge.draw.frame import Frame
from mpigauge.draw.plot import MOST_SERIES
from mpigauge.draw.styles import (
    DIM,
    GRID,
    colour,
    dash,
    fitted,
    group,
    painted,
    shape,
    stroke,
    text,
    words,
)
from mpigauge.model.units import with_commas

if TYPE_CHECKING:
    from mpigauge.draw.plot import Mark, Panel, Point, Series

LEFT, RIGHT = 78, 16
_TOP, _BARE, _BOTTOM = 40, 18, 48
"""Room around the inner box, for words: above it a title and labels of marks, or these alone."""
_BAR = 3.0
"""Half the width of the bar of one point."""
_MOST_DOTS = 80
_MOST_WITH_SAMPLES = 2
_REACH = 4.0
"""The largest factor by which an interval may widen an axis beyond the values."""


def framed(panel: Panel, x: float, y: float, wide: float, high: float) -> Frame:
    points: list[Point] = []
    for series in panel.series[:MOST_SERIES]:
        points += series.points
    values = [point.y for point in points]
    if math.isfinite(panel.level):
        values.append(panel.level)
    values += level_lines.heights(panel, values)
    top = _TOP if panel.title else _BARE
    return Frame(
        x + LEFT, y + top, wide - LEFT - RIGHT, high - top - _BOTTOM,
        Scale.of(panel.x, (point.x for point in points)),
        Scale.of(panel.y, [*values, *_ends(panel, points, values)]),
    )  # fmt: skip


def _ends(panel: Panel, points: Sequence[Point], values: Sequence[float]) -> Iterator[float]:
    """The ends of intervals, as far as they may widen the axis."""
    positions = [
        value for value in values if math.isfinite(value) and (value > 0 or not panel.y.base)
    ]
    if not positions:
        return
    low, high = min(positions), max(positions)
    if panel.y.base:
        low, high = low / _REACH, high * _REACH
    else:
        room = (high - low) or abs(high)
        low, high = low - room, high + room
    for point in points:
        for end in (point.low, point.high):
            if not math.isnan(end):
                yield min(max(end, low), high)


def lines_of_panel(panel: Panel, frame: Frame, names: Sequence[str]) -> Iterator[str]:
    """The SVG lines of a panel, clipped to the inner box."""
    f = frame
    box = f"{f.left:.1f} {f.top:.1f} {f.wide:.1f} {f.high:.1f}"
    x, y, wide, high = box.split()
    yield '<g class="panel">'
    yield from _axes(panel, f)
    yield f'<svg x="{x}" y="{y}" width="{wide}" height="{high}" viewBox="{box}">'
    if math.isfinite(panel.level):
        yield from _level(panel, f, names)
    yield from level_lines.lines_of_levels(panel, f)
    for mark in panel.marks:
        yield _mark_line(mark, f)
    for draw in (_areas, _curve):
        for series in panel.series[:MOST_SERIES]:
            yield from draw(panel, series, f, names.index(series.name))
    yield "</svg>"
    for mark in panel.marks:
        yield _mark_label(mark, f)
    yield "</g>"


def _level(panel: Panel, f: Frame, names: Sequence[str]) -> Iterator[str]:
    left, right = f.at(f.x.low, panel.level), f.at(f.x.high, panel.level)
    if not panel.level_name:
        yield stroke(*left, *right, "dim", DIM)
        return
    number = names.index(panel.level_name)
    yield group("series", number)
    yield stroke(*left, *right, "line", colour(number), f' stroke-width="1.8"{dash(number)}')
    yield "</g>"


def _axes(panel: Panel, f: Frame) -> Iterator[str]:
    yield fitted(f.left, f.top - 18, panel.title, f.wide, "start", 13)
    for tick in f.y.ticks(max(3, int(f.high / 36))):
        x, y = f.at(f.x.low, tick)
        yield stroke(x, y, f.left + f.wide, y, "grid", GRID)
        yield text(x - 6, y + 4, panel.y.tick(tick), "dim", "end", 11)
    for tick in f.x.ticks(max(3, int(f.wide / 66))):
        x = f.left + f.x.place(tick) * f.wide
        yield stroke(x, f.top, x, f.top + f.high, "grid", GRID)
        yield text(x, f.top + f.high + 16, panel.x.tick(tick), "dim", "middle", 11)
    middle = f.top + f.high / 2
    yield fitted(f.left + f.wide / 2, f.top + f.high + 34, panel.x.title, f.wide)
    turned = f' transform="rotate(-90 {f.left - 62:.1f} {middle:.1f})"'
    yield fitted(f.left - 62, middle, panel.y.title, f.high, more=turned)


def _areas(panel: Panel, series: Series, f: Frame, number: int) -> Iterator[str]:
    """Intervals, and ranges of samples, hidden if there are too many curves for them."""
    few, points = len(panel.series) <= _MOST_WITH_SAMPLES, from_left(panel, series)
    joined = [[point] for point in points] if panel.style == "dots" else [points]
    yield group("series", number)
    samples: list[str] = []
    for of in joined:
        samples += _bands(of, _samples, f, colour(number), 0.10)
    if samples:
        hidden = "" if few else ' display="none"'
        yield f'<g class="ranges"{hidden}>{"".join(samples)}</g>'
    opacity = 0.22 if few else 0.16
    for of in joined:
        yield from _bands(of, _interval, f, colour(number), opacity)
    yield "</g>"


def _curve(panel: Panel, series: Series, f: Frame, number: int) -> Iterator[str]:
    ordered = from_left(panel, series)
    yield group("series", number)
    if panel.style != "dots":
        yield (
            f'<polyline class="line" points="{_line(f.at(p.x, p.y) for p in ordered)}" fill="none" '
            f'stroke="{colour(number)}" stroke-width="1.8"{dash(number)}/>'
        )
    if len(ordered) <= _MOST_DOTS:
        for point in ordered:
            yield _dot(panel, series, point, f, number)
    yield "</g>"


def _line(places: Iterable[tuple[float, float]]) -> str:
    """Places as the attribute `points`."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def from_left(panel: Panel, series: Series) -> list[Point]:
    """The points that can be drawn, from left to right."""
    visible = [p for p in series.points if math.isfinite(p.y) and (p.y > 0 or not panel.y.base)]
    return sorted(visible, key=lambda point: point.x)


def _samples(point: Point) -> tuple[float, float]:
    return point.least, point.most


def _interval(point: Point) -> tuple[float, float]:
    return point.low, point.high


def _bands(
    points: Sequence[Point],
    ends: Callable[[Point], tuple[float, float]],
    f: Frame,
    fill: str,
    opacity: float,
) -> Iterator[str]:
    """An area for each stretch of points whose ends are known; a bar for a single point."""
    for has_ends, run in groupby(points, key=lambda p: all(map(math.isfinite, ends(p)))):
        if not has_ends:
            continue
        above, below = [], []
        for point in run:
            low, high = ends(point)
            above.append(f.at(point.x, high))
            below.append(f.at(point.x, low))
        if len(above) == 1:
            above, below = _bar(*above[0]), _bar(*below[0])
        line = _line([*above, *reversed(below)])
        yield f'<polygon class="band" points="{line}" fill="{fill}" fill-opacity="{opacity}"/>'


def _bar(x: float, y: float) -> list[tuple[float, float]]:
    """The ends of a short line through this place."""
    return [(x - _BAR, y), (x + _BAR, y)]


def _dot(panel: Panel, series: Series, point: Point, f: Frame, number: int) -> str:
    x, y = f.at(point.x, point.y)
    *who, where, value, low, high = row(panel, series, point)
    title = f"{with_commas(*who, where)}: {value}"
    if low and high:
        title += f" ({low} … {high})"
    return (
        f'<path {painted(number, point.is_hollow)} d="M{x:.1f} {y:.1f}{shape(number)}">'
        f"<title>{words(title)}</title></path>"
    )


def _mark_line(mark: Mark, f: Frame) -> str:
    x = f.left + f.x.place(mark.x) * f.wide
    return stroke(x, f.top, x, f.top + f.high, "dim", DIM, ' stroke-dasharray="3 3"')


def _mark_label(mark: Mark, f: Frame) -> str:
    x = f.left + f.x.place(mark.x) * f.wide
    title = f"<title>{words(' '.join(mark.words))}</title>" if mark.words else ""
    return f'<g class="mark">{title}{text(x, f.top - 2, mark.label, "ink", "middle", 11)}</g>'


def row(panel: Panel, series: Series, point: Point) -> tuple[str, ...]:
    """The words of a point: panel, curve, x, y, and the ends of the interval of y."""
    at, value = panel.x.words(point.x), panel.y.words(point.y)
    return panel.title, series.name, at, value, _end(panel, point.low), _end(panel, point.high)


def _end(panel: Panel, value: float) -> str:
    if math.isfinite(value):
        return panel.y.words(value)
    return ""
