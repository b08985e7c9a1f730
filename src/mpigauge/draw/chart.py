# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Draws a plot as SVG, with its panels side by side and a legend below them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.draw.panel import LEFT, RIGHT, framed, lines_of_panel, row
from mpigauge.draw.plot import MOST_SERIES, Picture
from mpigauge.draw.styles import PAPER, colour, dash, fitted, group, painted, shape, text, words
from mpigauge.model.width import cut_apart, wrap

if TYPE_CHECKING:
    from mpigauge.draw.frame import Frame
    from mpigauge.draw.plot import Plot


class Layout(NamedTuple):
    """The arrangement of panels on a page."""

    columns: int
    wide: int
    high: int
    """Width and height of a panel, in units in which letters are 12 high."""
    paper_mm: float = math.nan
    """The width on paper; NaN: the width in units is for a screen."""


_ONE, _TWO, _THREE = Layout(1, 900, 460), Layout(2, 470, 320), Layout(3, 340, 260)
_LEADING = Layout(1, 470, 264)
PAPER_LAYOUTS = {1: Layout(1, 340, 250, 85.0), 2: Layout(2, 350, 250, 175.0)}
"""Layouts by the number of columns on paper that a picture fills, with letters of 8 to 9 points."""
_VIEW = re.compile(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"')
_LETTER, _CAPITAL, _LINE = 7.2, 9.0, 20
"""Widths that letters hardly exceed, and the height of a line."""
_KEY = 44
"""Room for the line of a legend's entry, and between entries."""
_NOTE_LETTER, _NOTE_LINE = 6.4, 16
"""Width of the smaller letters of notes, and the height of a line of them."""


def picture(plot: Plot) -> Picture:
    """The plot as drawn, with its numbers as a table."""
    notes, left, rows = list(plot.notes), [], []
    for panel in plot.panels:
        for mark in panel.marks:
            notes += mark.words
        if len(panel.series) > MOST_SERIES:
            left.append(panel.title)
        for series in panel.series:
            rows += [row(panel, series, point) for point in series.points]
    if left:
        notes.append(
            f"Of {', '.join(left)} the first {MOST_SERIES} curves are drawn; the table has all."
        )
    first = plot.panels[0]
    return Picture(
        title=plot.title,
        about=plot.about,
        svg=svg(plot),
        heads=("", "curve", first.x.title, first.y.title, "from", "to"),
        rows=tuple(rows),
        names=_told_apart(plot),
        notes=tuple(notes),
        plot=plot,
    )


def small(picture: Picture) -> tuple[Picture, ...]:
    """The pictures for a narrow place, without a table: the first panel of a plot, or those that
    the picture provides for such a place."""
    if picture.plot is None:
        return tuple(replace(picture, svg=each, rows=(), notes=()) for each in picture.leading)
    plot = replace(picture.plot, panels=picture.plot.panels[:1], notes=())
    drawn = svg(plot, layout=_LEADING)
    return (Picture(picture.title, picture.about, drawn, names=_told_apart(plot)),)


def alone(picture: Picture, foot: Sequence[str] = (), layout: Layout | None = None) -> str:
    """A picture as SVG for a file of its own, with its notes below, then the lines of `foot`."""
    if picture.plot:
        return svg(picture.plot, (*picture.notes, *foot), layout)
    return _with_foot(picture.svg, foot, layout)


def _with_foot(drawn: str, foot: Sequence[str], layout: Layout | None) -> str:
    """A drawing that is not a plot over axes, with lines below."""
    size = _VIEW.search(drawn)
    if size is None or not (foot or layout):
        return drawn
    wide, high = map(float, size.groups())
    lines, more = _noted(foot, wide, high)
    paper_mm = layout.paper_mm if layout else math.nan
    return _sheet([drawn, *lines], wide, high + more, paper_mm)


def svg(plot: Plot, notes: Sequence[str] = (), layout: Layout | None = None) -> str:
    """A plot as wide as a page, in small multiples if there are several panels; notes below.
    `layout`: for other widths."""
    columns, panel_wide, high, paper_mm = _grid(plot, layout)
    wide = columns * panel_wide
    names = plot.drawn()
    entries = _fitting(_told_apart(plot), wide)
    legend = _places(entries, wide)
    rows = -(-len(plot.panels) // columns)
    bottom = 44.0 + rows * high
    foot = bottom
    parts = [fitted(wide / 2, 24, plot.title, wide - LEFT / 2, size=16)]
    for panel, frame in zip(plot.panels, frames(plot, layout), strict=True):
        parts += lines_of_panel(panel, frame, names)
    for number, (x, y) in enumerate(legend):
        parts += _entry(number, entries[number], x, bottom + y, names[number] in plot.hollow)
        foot = bottom + y + _LINE + 6
    lines, more = _noted(notes, wide, foot)
    label = f'role="img" aria-label="{words(f"{plot.title}. {plot.about}")}"'
    return _sheet([*parts, *lines], wide, foot + more, paper_mm, label)


def _noted(notes: Sequence[str], wide: float, top: float) -> tuple[list[str], int]:
    """Lines of text one below the other, and their total height."""
    texts: list[str] = []
    y = top + 12
    for note in notes:
        for line in wrap(note, int((wide - LEFT) / _NOTE_LETTER)):
            texts.append(text(LEFT / 2, y, line, "dim", size=11))
            y += _NOTE_LINE
    if not texts:
        return [], 0
    return texts, _NOTE_LINE * len(texts) + 10


def _sheet(
    parts: Sequence[str], wide: float, height: float, paper_mm: float, label: str = ""
) -> str:
    """The drawing around these parts."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {height:g}" '
        f'{_extent(wide, height, paper_mm)} font-family="sans-serif" font-size="12" {label}>\n'
        f'<rect class="paper" width="100%" height="100%" fill="{PAPER}"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _extent(wide: float, height: float, paper_mm: float) -> str:
    """The attributes of width and height."""
    if math.isnan(paper_mm):
        return f'width="{wide:g}" height="{height:g}"'
    return f'width="{paper_mm:g}mm" height="{paper_mm * height / wide:.1f}mm"'


def frames(plot: Plot, layout: Layout | None = None) -> list[Frame]:
    """The position of each panel."""
    columns, wide, high, _ = _grid(plot, layout)
    boxes = []
    for number, panel in enumerate(plot.panels):
        down, across = divmod(number, columns)
        boxes.append(framed(panel, across * wide, 40 + down * high, wide, high))
    return boxes


def _grid(plot: Plot, layout: Layout | None) -> Layout:
    """The layout, with no more columns than panels; a single panel takes the whole width."""
    many = len(plot.panels)
    if layout is None:
        return _LAYOUTS.get(many, _THREE)
    columns = min(layout.columns, many)
    return layout._replace(columns=columns, wide=layout.wide * layout.columns // columns)


_LAYOUTS = {1: _ONE, 2: _TWO, 4: _TWO}
"""Layouts by the number of panels; others have three side by side."""


def _told_apart(plot: Plot) -> tuple[str, ...]:
    """The names that a legend needs; empty if no panel has more than one curve."""
    for panel in plot.panels:
        if len(panel.series) + bool(panel.level_name) > 1:
            return plot.drawn()
    return ()


# --- the legend -----------------------------------------------------------------------------
def _fitting(names: Sequence[str], wide: float) -> Sequence[str]:
    """The names, without the middle of those that are longer than a line; all remain distinct."""
    letters = int((wide - LEFT - RIGHT - _KEY) / _LETTER)
    return cut_apart(names, letters)


def _places(names: Sequence[str], wide: float) -> list[tuple[float, float]]:
    """The position of each entry: side by side as long as there is room."""
    places = []
    x, y = float(LEFT), 16.0
    for name in names:
        need = _KEY + sum(_CAPITAL if letter.isupper() else _LETTER for letter in name)
        if x > LEFT and x + need > wide - RIGHT:
            x, y = float(LEFT), y + _LINE
        places.append((x, y))
        x += need
    return places


def _entry(number: int, name: str, x: float, y: float, is_hollow: bool) -> Iterator[str]:
    yield group("legend", number)
    line = f'x1="{x:.1f}" y1="{y - 4:.1f}" x2="{x + 24:.1f}" y2="{y - 4:.1f}"'
    yield f'<line class="line" {line} stroke="{colour(number)}" stroke-width="1.8"{dash(number)}/>'
    at = f"M{x + 12:.1f} {y - 4:.1f}{shape(number)}"
    yield f'<path {painted(number, is_hollow)} d="{at}"/>'
    yield f"{text(x + 30, y, name, 'ink')}</g>"
