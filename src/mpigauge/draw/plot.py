# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The contents of a plot, as values: panels, curves and points. chart.py draws it."""

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
"""The most curves in a panel that can be distinguished; the table has all."""


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    low: float = math.nan
    high: float = math.nan
    """The interval of y; NaN: unknown."""
    least: float = math.nan
    most: float = math.nan
    """The range of nearly all samples; NaN: unknown."""
    is_hollow: bool = False
    """True if it was not measured but computed: it is drawn without a filling."""

    @classmethod
    def of(cls, x: float, value: Estimate, is_hollow: bool = False) -> Point:
        return cls(x, value.value, value.low, value.high, is_hollow=is_hollow)


@dataclass(frozen=True)
class Series:
    """A curve. Curves of the same name look alike in all panels."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Mark:
    """A place on the x axis."""

    x: float
    label: str
    words: tuple[str, ...] = ()
    """Notes on the mark below the plot."""


@dataclass(frozen=True)
class Level:
    """A reference value of y for the curves."""

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
    """The name of that line: in all panels it looks like a curve of this name."""
    levels: tuple[Level, ...] = ()
    """Further lines with words; those far from all curves are left out."""
    style: Literal["curves", "dots", "bars"] = "curves"
    """Connected points, or single ones; bars: in a terminal, columns of a histogram."""


@dataclass(frozen=True)
class Plot:
    title: str
    about: str
    """A description for people who cannot see the picture."""
    panels: tuple[Panel, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all lines and series, each once, in the order in which they first appear."""
        return self.drawn(None)

    @property
    def hollow(self) -> frozenset[str]:
        """The names of curves with nothing but hollow points."""
        every = [series for panel in self.panels for series in panel.series]
        filled = {each.name for each in every if not all(p.is_hollow for p in each.points)}
        return frozenset({each.name for each in every} - filled)

    def drawn(self, most: int | None = MOST_SERIES) -> tuple[str, ...]:
        """The names of at most `most` series of each panel, each once."""
        lines: list[str] = []
        curves: list[str] = []
        for panel in self.panels:
            if panel.level_name:
                lines.append(panel.level_name)
            curves += [series.name for series in panel.series[:most]]
        return tuple(dict.fromkeys([*lines, *curves]))


@dataclass(frozen=True)
class Picture:
    """A plot for display: drawn, and with the same numbers as a table."""

    title: str
    about: str
    svg: str
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    names: tuple[str, ...] = ()
    """The names of the series that are drawn, by their number in the drawing."""
    notes: tuple[str, ...] = ()
    leading: tuple[str, ...] = ()
    """Drawings for the first screen, if it is not a plot over axes."""
    fixed: bool = False
    """True if its colours stand for values, so that pages must not change them."""
    plot: Plot | None = None
    """The plot from which it was drawn; None: it is not a plot over axes."""
    characters: Plot | None = None
    """The plot that a terminal draws instead; None: the same."""
    lines: Callable[[Screen], Iterable[str]] | None = None
    """A function for the lines that a terminal prints instead of a plot; with no plot either, it
    shows nothing."""
