# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Draws a plot as SVG, for paper as it is; pages give its classes colours of their own.

Curves differ in colour (the palette of Okabe and Ito), in the shape of their points and, beyond
five, in their dashes, so that none of them has to be told by its colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from mpigauge.report.axes import Scale
from mpigauge.report.plot import MOST_SERIES, Picture

if TYPE_CHECKING:
    from mpigauge.report.plot import Mark, Panel, Plot, Point, Series

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_MANY = len(COLOURS)
_DASHES = ("", "6 3", "2 2", "9 3 2 3")
_SHAPES = (
    "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "m-2.7-2.7h5.4v5.4h-5.4z",
    "m0-3.6l3.4 6h-6.8z",
    "m0-3.8l3.2 3.8l-3.2 3.8l-3.2-3.8z",
    "m0 3.6l3.4-6h-6.8z",
)
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 16, 40, 48
_LETTER, _CAPITAL, _LINE = 7.2, 9.0, 20
"""Widths that letters hardly exceed, and the height of a line."""
_MOST_DOTS = 80
_MOST_WITH_SAMPLES = 2
_REACH = 4.0
"""An interval may widen an axis by this factor beyond the values, no more."""
_INK, _DIM, _GRID, _PAPER = "#1a1a1a", "#555555", "#dddddd", "#ffffff"


@dataclass(frozen=True)
class _Frame:
    """The inner box of a panel, and its axes."""

    left: float
    top: float
    wide: float
    high: float
    x: Scale
    y: Scale

    def at(self, x: float, y: float) -> tuple[float, float]:
        """On the picture. Nothing lies farther out than a box's height."""
        down = min(max(self.y.place(y), -1.0), 2.0)
        return self.left + self.x.place(x) * self.wide, self.top + (1 - down) * self.high


def picture(plot: Plot) -> Picture:
    """The plot drawn, and its numbers as a table."""
    notes = [
        *plot.notes,
        *(words for panel in plot.panels for mark in panel.marks for words in mark.words),
    ]
    if left := [panel.title for panel in plot.panels if len(panel.series) > MOST_SERIES]:
        notes.append(
            f"Of {', '.join(left)} the first {MOST_SERIES} curves are drawn; the table has all."
        )
    first = plot.panels[0]
    return Picture(
        title=plot.title,
        about=plot.about,
        svg=svg(plot),
        heads=("", "curve", first.x.title, first.y.title, "from", "to"),
        rows=tuple(_row(panel, series, point) for panel, series, point in _points(plot)),
        names=_told_apart(plot),
        notes=tuple(notes),
    )


def svg(plot: Plot) -> str:
    """As wide as a page, in small multiples where there are several panels."""
    many = len(plot.panels)
    columns = 1 if many == 1 else 2 if many in (2, 4) else 3
    wide, high = {1: (900, 460), 2: (470, 320), 3: (340, 260)}[columns]
    names = _drawn(plot)
    legend = _places(_told_apart(plot), columns * wide)
    rows = -(-many // columns)
    bottom = 44 + rows * high
    height = bottom + (legend[-1][1] + _LINE + 6 if legend else 0)
    parts = [_text(columns * wide / 2, 24, plot.title, "ink", "middle", 16)]
    for number, panel in enumerate(plot.panels):
        row, column = divmod(number, columns)
        frame = _frame(panel, column * wide, 40 + row * high, wide, high)
        parts += _panel(panel, frame, names)
    for number, (x, y) in enumerate(legend):
        parts += _entry(number, names[number], x, bottom + y)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {columns * wide} {height}" '
        f'width="{columns * wide}" height="{height}" font-family="sans-serif" font-size="12" '
        f'role="img" aria-label="{escape(f"{plot.title}. {plot.about}")}">\n'
        f'<rect class="paper" width="100%" height="100%" fill="{_PAPER}"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _drawn(plot: Plot) -> tuple[str, ...]:
    kept = (series.name for panel in plot.panels for series in panel.series[:MOST_SERIES])
    return tuple(dict.fromkeys(kept))


def _told_apart(plot: Plot) -> tuple[str, ...]:
    """The names that a legend needs: none, where no panel has more than one curve."""
    return _drawn(plot) if any(len(panel.series) > 1 for panel in plot.panels) else ()


def _points(plot: Plot) -> Iterator[tuple[Panel, Series, Point]]:
    for panel in plot.panels:
        for series in panel.series:
            for point in series.points:
                yield panel, series, point


def _row(panel: Panel, series: Series, point: Point) -> tuple[str, ...]:
    ends = (panel.y.words(end) if math.isfinite(end) else "" for end in (point.low, point.high))
    return panel.title, series.name, panel.x.words(point.x), panel.y.words(point.y), *ends


# --- a panel --------------------------------------------------------------------------------
def _frame(panel: Panel, x: float, y: float, wide: float, high: float) -> _Frame:
    points = [point for series in panel.series[:MOST_SERIES] for point in series.points]
    values = [point.y for point in points]
    if math.isfinite(panel.level):
        values.append(panel.level)
    return _Frame(
        x + _LEFT, y + _TOP, wide - _LEFT - _RIGHT, high - _TOP - _BOTTOM,
        Scale.of(panel.x, (point.x for point in points)),
        Scale.of(panel.y, [*values, *_ends(panel, points, values)]),
    )  # fmt: skip


def _ends(panel: Panel, points: Sequence[Point], values: Sequence[float]) -> Iterator[float]:
    """Of intervals, as far as they may widen the axis."""
    known = [value for value in values if math.isfinite(value) and (value > 0 or not panel.y.base)]
    if not known:
        return
    low, high = min(known), max(known)
    if panel.y.base:
        low, high = low / _REACH, high * _REACH
    else:
        room = (high - low) or abs(high)
        low, high = low - room, high + room
    for point in points:
        yield from (min(max(end, low), high) for end in (point.low, point.high) if end == end)


def _panel(panel: Panel, frame: _Frame, names: Sequence[str]) -> Iterator[str]:
    """What lies beyond the inner box is cut off."""
    f = frame
    box = f"{f.left:.1f} {f.top:.1f} {f.wide:.1f} {f.high:.1f}"
    x, y, wide, high = box.split()
    yield '<g class="panel">'
    yield from _axes(panel, f)
    yield f'<svg x="{x}" y="{y}" width="{wide}" height="{high}" viewBox="{box}">'
    if math.isfinite(panel.level):
        yield _stroke(*f.at(f.x.low, panel.level), *f.at(f.x.high, panel.level), "dim", _DIM)
    yield from (_mark_line(mark, f) for mark in panel.marks)
    for draw in (_areas, _curve):
        for series in panel.series[:MOST_SERIES]:
            yield from draw(panel, series, f, names.index(series.name))
    yield "</svg>"
    yield from (_mark_label(mark, f) for mark in panel.marks)
    yield "</g>"


def _axes(panel: Panel, f: _Frame) -> Iterator[str]:
    yield _text(f.left, f.top - 18, panel.title, "ink", size=13)
    for tick in f.y.ticks(max(3, int(f.high / 36))):
        x, y = f.at(f.x.low, tick)
        yield _stroke(x, y, f.left + f.wide, y, "grid", _GRID)
        yield _text(x - 6, y + 4, panel.y.words(tick), "dim", "end", 11)
    for tick in f.x.ticks(max(3, int(f.wide / 66))):
        x = f.left + f.x.place(tick) * f.wide
        yield _stroke(x, f.top, x, f.top + f.high, "grid", _GRID)
        yield _text(x, f.top + f.high + 16, panel.x.words(tick), "dim", "middle", 11)
    middle = f.top + f.high / 2
    yield _text(f.left + f.wide / 2, f.top + f.high + 34, panel.x.title, "ink", "middle")
    turned = f'transform="rotate(-90 {f.left - 62:.1f} {middle:.1f})"'
    yield _text(f.left - 62, middle, panel.y.title, "ink", "middle", more=turned)


def _areas(panel: Panel, series: Series, f: _Frame, number: int) -> Iterator[str]:
    """Intervals; ranges of samples too, where so few curves are no muddle."""
    few = len(panel.series) <= _MOST_WITH_SAMPLES
    drawn = [(_samples, 0.10), (_interval, 0.22)] if few else [(_interval, 0.16)]
    yield _group("series", number)
    for ends, opacity in drawn:
        yield from _bands(_ordered(panel, series), ends, f, COLOURS[number % _MANY], opacity)
    yield "</g>"


def _curve(panel: Panel, series: Series, f: _Frame, number: int) -> Iterator[str]:
    ordered = _ordered(panel, series)
    yield _group("series", number)
    line = " ".join("{:.1f},{:.1f}".format(*f.at(p.x, p.y)) for p in ordered)
    yield (
        f'<polyline class="line" points="{line}" fill="none" stroke="{COLOURS[number % _MANY]}" '
        f'stroke-width="1.8"{_dash(number)}/>'
    )
    if len(ordered) <= _MOST_DOTS:
        yield from (_dot(panel, series, point, f, number) for point in ordered)
    yield "</g>"


def _group(kind: str, number: int) -> str:
    return f'<g class="{kind} c{number % _MANY}" data-series="{number}">'


def _ordered(panel: Panel, series: Series) -> list[Point]:
    """Those that can be drawn, from left to right."""
    known = [p for p in series.points if math.isfinite(p.y) and (p.y > 0 or not panel.y.base)]
    return sorted(known, key=lambda point: point.x)


def _samples(point: Point) -> tuple[float, float]:
    return point.least, point.most


def _interval(point: Point) -> tuple[float, float]:
    return point.low, point.high


def _bands(
    points: Sequence[Point],
    ends: Callable[[Point], tuple[float, float]],
    f: _Frame,
    colour: str,
    opacity: float,
) -> Iterator[str]:
    """An area for each stretch of points whose ends are known."""
    for known, run in groupby(points, key=lambda p: all(map(math.isfinite, ends(p)))):
        stretch = list(run)
        if not known or len(stretch) < 2:
            continue
        above = [f.at(p.x, ends(p)[1]) for p in stretch]
        below = [f.at(p.x, ends(p)[0]) for p in reversed(stretch)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*above, *below])
        yield (f'<polygon class="band" points="{line}" fill="{colour}" fill-opacity="{opacity}"/>')


def _dot(panel: Panel, series: Series, point: Point, f: _Frame, number: int) -> str:
    x, y = f.at(point.x, point.y)
    *who, where, value, low, high = _row(panel, series, point)
    ends = f" ({low} … {high})" if low and high else ""
    words = f"{', '.join(filter(None, (*who, where)))}: {value}{ends}"
    return (
        f'<path class="dot" d="M{x:.1f} {y:.1f}{_SHAPES[number % len(_SHAPES)]}" '
        f'fill="{COLOURS[number % _MANY]}"><title>{escape(words)}</title></path>'
    )


def _mark_line(mark: Mark, f: _Frame) -> str:
    x = f.left + f.x.place(mark.x) * f.wide
    return _stroke(x, f.top, x, f.top + f.high, "dim", _DIM, ' stroke-dasharray="3 3"')


def _mark_label(mark: Mark, f: _Frame) -> str:
    x = f.left + f.x.place(mark.x) * f.wide
    title = f"<title>{escape(' '.join(mark.words))}</title>" if mark.words else ""
    return f'<g class="mark">{title}{_text(x, f.top - 2, mark.label, "ink", "middle", 11)}</g>'


# --- the legend -----------------------------------------------------------------------------
def _places(names: Sequence[str], wide: float) -> list[tuple[float, float]]:
    """Where each entry begins: beside each other as long as there is room."""
    places = []
    x, y = float(_LEFT), 16.0
    for name in names:
        need = 44 + sum(_CAPITAL if letter.isupper() else _LETTER for letter in name)
        if x > _LEFT and x + need > wide - _RIGHT:
            x, y = float(_LEFT), y + _LINE
        places.append((x, y))
        x += need
    return places


def _entry(number: int, name: str, x: float, y: float) -> Iterator[str]:
    colour = COLOURS[number % _MANY]
    yield _group("legend", number)
    line = f'x1="{x:.1f}" y1="{y - 4:.1f}" x2="{x + 24:.1f}" y2="{y - 4:.1f}"'
    yield f'<line class="line" {line} stroke="{colour}" stroke-width="1.8"{_dash(number)}/>'
    shape = _SHAPES[number % len(_SHAPES)]
    yield f'<path class="dot" d="M{x + 12:.1f} {y - 4:.1f}{shape}" fill="{colour}"/>'
    yield f"{_text(x + 30, y, name, 'ink')}</g>"


def _dash(number: int) -> str:
    pattern = _DASHES[number // len(_SHAPES) % len(_DASHES)]
    return f' stroke-dasharray="{pattern}"' if pattern else ""


# --- words and lines ------------------------------------------------------------------------
def _text(
    x: float, y: float, words: str, kind: str, anchor: str = "start", size: int = 12, more: str = ""
) -> str:
    fill = _INK if kind == "ink" else _DIM
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{fill}" {more}>{escape(words)}</text>'
    ).replace(" >", ">", 1)


def _stroke(
    x1: float, y1: float, x2: float, y2: float, kind: str, colour: str, more: str = ""
) -> str:
    return (
        f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="{colour}"{more}/>'
    )
