# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a plot shows, as values: panels, curves and points. chart.py draws it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mpigauge.draw.axes import Axis
    from mpigauge.model.row import Estimate
    from mpigauge.model.screen import Screen

MOST_SERIES = 16
"""More curves than these in a panel cannot be told apart; the table has all."""


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    low: float = math.nan
    high: float = math.nan
    """The interval of y; NaN: not known."""
    least: float = math.nan
    most: float = math.nan
    """Between what nearly all samples lie; NaN: not known."""

    @classmethod
    def of(cls, x: float, value: Estimate) -> Point:
        return cls(x, value.value, value.low, value.high)


@dataclass(frozen=True)
class Series:
    """A curve. In all panels those of one name look alike."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Mark:
    """A place on the x axis."""

    x: float
    label: str
    words: tuple[str, ...] = ()
    """What is said of it below the plot."""


@dataclass(frozen=True)
class Level:
    """A value of y that curves are to be seen against."""

    y: float
    label: str


@dataclass(frozen=True)
class Panel:
    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    level: float = math.nan
    """A value of y at which a line is drawn; NaN: none."""
    level_name: str = ""
    """What that line is: in all panels it looks like a curve of this name."""
    levels: tuple[Level, ...] = ()
    """Such lines with words; those far from all curves are left out."""
    style: Literal["curves", "dots", "bars"] = "curves"
    """Points that are joined or single ones; bars: in a terminal columns of a histogram."""


@dataclass(frozen=True)
class Plot:
    title: str
    about: str
    """What is to be seen, for who cannot see it."""
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all lines and series, each once, in the order in which they first appear."""
        return self.drawn(None)

    def drawn(self, most: int | None = MOST_SERIES) -> tuple[str, ...]:
        """The names of no more than `most` series of each panel, each once."""
        lines: list[str] = []
        curves: list[str] = []
        for panel in self.panels:
            if panel.level_name:
                lines.append(panel.level_name)
            curves += [series.name for series in panel.series[:most]]
        return tuple(dict.fromkeys([*lines, *curves]))


@dataclass(frozen=True)
class Picture:
    """A plot as it is shown: drawn, and the same numbers as a table."""

    title: str
    about: str
    svg: str
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] = ()
    """Of the series that are drawn, by their number in the drawing."""
    notes: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    """Drawings for the first screen, where it is not a plot over axes."""
    fixed: bool = False
    """Its colours stand for values, so that no page may change them."""
    plot: Plot | None = None
    """What it was drawn from; None: it is not a plot over axes."""
    characters: Plot | None = None
    """What a terminal draws in its place; None: the same."""
    lines: Callable[[Screen], Iterable[str]] | None = None
    """What a terminal prints in place of a plot; neither: it can show nothing of it."""
