# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A picture in a terminal: panels, in small multiples if there are many, a legend and notes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.draw.plot import MOST_SERIES
from mpigauge.draw.terminal.panel import text_of_panel
from mpigauge.draw.terminal.styles import DIM, StyledLetter, cut, mark, paint, painted, printable
from mpigauge.model.width import wrap

if TYPE_CHECKING:
    from mpigauge.draw.plot import Picture, Plot
    from mpigauge.model.screen import Screen

_GAP = 2
_LEAST_MULTIPLE = 38
"""Columns of a small multiple."""
_SMALL, _ALONE = 13, 22
"""Lines of one of many panels, and of a single one."""
_LEAST = 10
_AROUND = 6
"""Lines of a terminal for the text above and below a panel."""


def lines(picture: Picture, screen: Screen) -> Iterator[str] | None:
    """The lines of a picture; None: it cannot be shown in a terminal."""
    if picture.lines is not None:
        return iter(picture.lines(screen))
    plot = picture.characters or picture.plot
    if plot is None:
        return None
    return _plot(plot, list(dict.fromkeys([*picture.notes, *plot.notes])), screen)


def _plot(plot: Plot, notes: Sequence[str], screen: Screen) -> Iterator[str]:
    names = tuple(
        dict.fromkeys(s.name for panel in plot.panels for s in panel.series[:MOST_SERIES])
    )
    width = screen.width - 1 if screen.live else screen.width
    yield cut(printable(plot.title), width, screen)
    columns = _columns(len(plot.panels), width)
    wide = (width - _GAP * (columns - 1)) // columns
    high = _height(len(plot.panels), screen)
    any_bars = False
    for begin in range(0, len(plot.panels), columns):
        texts = []
        for panel in plot.panels[begin : begin + columns]:
            characters, bars = text_of_panel(panel, names, wide, high, screen)
            texts.append(characters)
            any_bars |= bars
        yield ""
        for beside in zip(*texts, strict=True):
            yield painted(_joined(beside, wide), screen)
    yield from _below(plot, names, notes, any_bars, width, screen)


def _columns(panels: int, width: int) -> int:
    """The number of columns; two or three panels are one below the other if they are wide."""
    most = max(1, (width + _GAP) // (_LEAST_MULTIPLE + _GAP))
    if panels <= 3:
        most = max(1, width // (2 * _LEAST_MULTIPLE))
    return min(panels, most)


def _height(panels: int, screen: Screen) -> int:
    high = _SMALL if panels > 3 else _ALONE
    if not screen.live:
        return high
    return min(high, max(_LEAST, screen.height - _AROUND))


def _joined(rows: Sequence[list[StyledLetter]], wide: int) -> Iterator[StyledLetter]:
    for number, row in enumerate(rows):
        yield from row
        if number < len(rows) - 1:
            yield from [StyledLetter()] * (wide + _GAP - len(row))


def _below(
    plot: Plot,
    names: Sequence[str],
    notes: Sequence[str],
    bars: bool,
    width: int,
    screen: Screen,
) -> Iterator[str]:
    told_apart = any(len(panel.series) > 1 for panel in plot.panels)
    if told_apart:
        yield ""
        yield from _legend(names, plot.hollow, width, screen)
    if bars:
        notes = ["Upright bars: the interval, where it is larger than a mark.", *notes]
    for note in notes:
        for line in wrap(printable(note), width, subsequent_indent="  "):
            yield paint(line, DIM, screen)


def _legend(
    names: Sequence[str], hollow: Collection[str], width: int, screen: Screen
) -> Iterator[str]:
    """Legend entries side by side, as long as there is room."""
    line, used = "", 0
    for number, name in enumerate(names):
        letter = mark(number, screen.unicode, name in hollow)
        text = f"{letter} {cut(printable(name), width - 2, screen)}"
        if used and used + len(text) + 3 > width:
            yield line
            line, used = "", 0
        gap = "   " if used else ""
        line += gap + paint(text, number, screen)
        used += len(gap) + len(text)
    yield line
