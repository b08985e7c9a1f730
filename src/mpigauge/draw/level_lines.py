# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reference values for curves, such as limits of the node: lines with words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.draw.plot import MOST_SERIES
from mpigauge.draw.styles import DIM, stroke, text

if TYPE_CHECKING:
    from mpigauge.draw.frame import Frame
    from mpigauge.draw.plot import Level, Panel

REACH, FAR, SHARE = 4.0, 32.0, 1 / 2
"""Factors by which a level may widen a logarithmic axis beyond the values: the first always, up to
the second if that is at most this share of the values' own range."""

_LETTER, _LINE = 5.8, 13.0
"""The width of a letter of such words, and the height of a line."""
_STEPS = 16
"""Points on each piece of a curve that words avoid."""
_MANY = 4
"""The penalty for covering words, relative to covering a curve."""


def heights(panel: Panel, values: Sequence[float]) -> Iterator[float]:
    """The heights of the levels for which the axis is widened."""
    positive = [value for value in values if math.isfinite(value) and value > 0]
    if positive and panel.y.base:
        low, high = min(positive), max(positive)
        reach = min(max(REACH, (high / low) ** SHARE), FAR)
        for level in panel.levels:
            if low / reach <= level.y <= high * reach:
                yield level.y


def levels_on_axis(panel: Panel, frame: Frame) -> list[Level]:
    """The levels that lie on the axis."""
    return [level for level in panel.levels if 0 <= frame.y.place(level.y) <= 1]


def lines_of_levels(panel: Panel, frame: Frame) -> Iterator[str]:
    """Lines across the box, each with words where they cover as little as possible of curves and
    other words."""
    covered = list(_of_curves(panel, frame))
    for level in levels_on_axis(panel, frame):
        left, y = frame.at(frame.x.low, level.y)
        yield stroke(left, y, left + frame.wide, y, "dim", DIM, ' stroke-dasharray="6 4"')
        box = min(_places(level.label, y, frame), key=lambda box: box.covers(covered))
        covered += box.corners * _MANY
        yield text(box.left, box.low - 3, level.label, "dim", size=11)


class _Box(NamedTuple):
    """Room for words, in the units of the drawing; `low` is below `high`."""

    left: float
    right: float
    high: float
    low: float

    @property
    def corners(self) -> list[tuple[float, float]]:
        """The corners and points between them, at the distance of letters."""
        middle = (self.high + self.low) / 2
        steps = int((self.right - self.left) / _LETTER) + 1
        points = []
        for step in range(steps):
            x = self.left + _LETTER * step
            points += [(x, self.high), (x, middle), (x, self.low)]
        return points

    def covers(self, points: Sequence[tuple[float, float]]) -> int:
        return sum(self.left <= x <= self.right and self.high <= y <= self.low for x, y in points)


def _places(label: str, y: float, frame: Frame) -> Iterator[_Box]:
    """Positions above and below the line at its right end, its left end, and between; within the
    box."""
    wide = _LETTER * len(label)
    rights = (frame.left + frame.wide - 4, frame.left + 4 + wide, frame.left + frame.wide / 2)
    for right in rights:
        for low in (y - 1, y + 1 + _LINE):
            if frame.top <= low - _LINE and low <= frame.top + frame.high:
                yield _Box(right - wide, right, low - _LINE, low)
    yield _Box(rights[0] - wide, rights[0], y - 1 - _LINE, y - 1)


def _of_curves(panel: Panel, frame: Frame) -> Iterator[tuple[float, float]]:
    """Points along all curves that are drawn."""
    for series in panel.series[:MOST_SERIES]:
        ends = []
        for point in series.points:
            if math.isfinite(point.y):
                ends.append(frame.at(point.x, point.y))
        for (x1, y1), (x2, y2) in pairwise(ends):
            for step in range(_STEPS):
                share = step / _STEPS
                yield x1 + share * (x2 - x1), y1 + share * (y2 - y1)
        yield from ends[-1:]
