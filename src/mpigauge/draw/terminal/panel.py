# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One panel of a plot in characters: its axes, and curves with their points and bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.draw import level_lines
from mpigauge.draw.panel import framed, from_left
from mpigauge.draw.plot import MOST_SERIES
from mpigauge.draw.terminal.canvas import Canvas
from mpigauge.draw.terminal.styles import DIM, StyledLetter, cut, mark, words

if TYPE_CHECKING:
    from mpigauge.draw.axes import Scale
    from mpigauge.draw.frame import Frame
    from mpigauge.draw.plot import Panel, Series
    from mpigauge.model.screen import Screen

_GAP = 2
"""The least blanks between the words of two ticks."""
_APART = 3
"""Columns from one mark of a curve to the next."""
_LEAST_WIDE = 8
Lines = list[list[StyledLetter]]


def text_of_panel(
    panel: Panel, names: Sequence[str], width: int, height: int, screen: Screen
) -> tuple[Lines, bool]:
    """The `height` lines of a panel, at most `width` wide, and True if an interval is visible."""
    frame = framed(panel, 0, 0, width, height)
    if panel.style == "bars":
        frame = replace(frame, y=replace(frame.y, low=0.0))
    high = height - 3
    labels: dict[int, str] = {}
    for tick in frame.y.ticks(max(2, high // 3)):
        labels[_line(frame.y, tick, high)] = panel.y.words(tick)
    gutter = max(map(len, labels.values()), default=0)
    canvas = Canvas(max(_LEAST_WIDE, width - gutter - 1), high, screen.unicode)
    bars = _draw(panel, frame, names, canvas)
    ticked, edge = "┤│" if screen.unicode else "+|"
    lines = [words(cut(_title(panel), width, screen))]
    for number, row in enumerate(canvas.lines()):
        label = labels.get(number, "")
        side = StyledLetter(ticked if label else edge, DIM)
        lines.append([*words(f"{label:>{gutter}}", DIM), side, *row])
    return [*lines, *_x_axis(panel, frame.x, gutter, canvas)], bars


def _title(panel: Panel) -> str:
    axes = f"{panel.y.title} over {panel.x.title}"
    if panel.title:
        return f"{panel.title}: {axes}"
    return axes


def _line(scale: Scale, value: float, high: int) -> int:
    return min(max(round((1 - scale.place(value)) * (high - 1)), 0), high - 1)


# --- what is in the box ---------------------------------------------------------------------
def _draw(panel: Panel, frame: Frame, names: Sequence[str], canvas: Canvas) -> bool:
    """Draws the contents; True if an interval is visible."""
    shown = [(series, names.index(series.name)) for series in panel.series[:MOST_SERIES]]
    if panel.style == "bars":
        for series, number in shown:
            _columns(series, frame, canvas, number)
        return False
    seen = False
    for series, number in shown:
        seen |= _bars(panel, series, frame, canvas, number)
    for series, number in shown:
        _curve(panel, series, frame, canvas, number)
    _levels(panel, frame, canvas)
    for each in panel.marks:
        canvas.write(canvas.upright(frame.x.place(each.x)), 0, each.label)
    return seen


def _bars(panel: Panel, series: Series, frame: Frame, canvas: Canvas, number: int) -> bool:
    """Draws the bars of a series; True if one of them is visible."""
    seen = False
    for point in from_left(panel, series):
        if math.isfinite(point.low) and math.isfinite(point.high):
            low, high = frame.y.place(point.low), frame.y.place(point.high)
            seen |= canvas.bar(frame.x.place(point.x), low, high, number)
    return seen


def _curve(panel: Panel, series: Series, frame: Frame, canvas: Canvas, number: int) -> None:
    ordered = from_left(panel, series)
    points = [(frame.x.place(p.x), frame.y.place(p.y)) for p in ordered]
    if panel.style == "dots":
        for at in points:
            canvas.dot(at, number)
        return
    canvas.curve(points, number)
    last = -_APART
    for at, point in zip(points, ordered, strict=True):
        column = canvas.column_of(at[0])
        if column >= last + _APART or len(points) < canvas.wide // _APART:
            canvas.mark(at, mark(number, canvas.unicode, point.is_hollow), number)
            last = column


def _columns(series: Series, frame: Frame, canvas: Canvas, number: int) -> None:
    """Draws the columns of a histogram; each has the highest of the bins within it."""
    places = sorted((frame.x.place(p.x), frame.y.place(p.y)) for p in series.points if p.y > 0)
    half = 0.5
    if len(places) > 1:
        half = (places[1][0] - places[0][0]) / 2
    for x in range(canvas.wide):
        at = (x + 0.5) / canvas.wide
        within = [share for middle, share in places if abs(middle - at) <= half]
        if within:
            canvas.column(x, max(within), number)


def _levels(panel: Panel, frame: Frame, canvas: Canvas) -> None:
    """Draws lines across, with their words where no curve is."""
    if math.isfinite(panel.level):
        canvas.across(frame.y.place(panel.level))
    for level in level_lines.levels_on_axis(panel, frame):
        line = canvas.across(frame.y.place(level.y))
        text = f" {level.label} "[: canvas.wide]
        at = canvas.wide - len(text)
        if not canvas.free(at, line, len(text)):
            at = 0
        canvas.write(at, line, text)


# --- below it -------------------------------------------------------------------------------
def _x_axis(panel: Panel, scale: Scale, gutter: int, canvas: Canvas) -> Lines:
    """A line with ticks, and a line with as many of their words as fit."""
    corner, along, down = "└─┬" if canvas.unicode else "+-+"
    ruler = [StyledLetter(along, DIM) for _ in range(canvas.wide)]
    labels = [StyledLetter() for _ in range(gutter + 1 + canvas.wide)]
    free = 0
    for tick in scale.ticks(max(2, canvas.wide // 9)):
        column, text = canvas.column_of(scale.place(tick)), panel.x.words(tick)
        begin = gutter + 1 + column - len(text) // 2
        begin = max(0, min(begin, len(labels) - len(text)))
        if begin >= free:
            ruler[column] = StyledLetter(down, DIM)
            labels[begin : begin + len(text)] = words(text, DIM)
            free = begin + len(text) + _GAP
    return [[*words(" " * gutter), StyledLetter(corner, DIM), *ruler], labels]
