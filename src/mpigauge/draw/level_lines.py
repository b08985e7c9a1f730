# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Values that curves are to be seen against, such as limits of the node: lines with words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.draw.styles import DIM, stroke, text

if TYPE_CHECKING:
    from mpigauge.draw.frame import Frame
    from mpigauge.draw.plot import Level, Panel

REACH, FAR, SHARE = 4.0, 32.0, 1 / 2
"""A level may widen an axis of logarithms by the first factor beyond the values; by up to the
second where that is no more than this share of what they themselves take."""


def heights(panel: Panel, values: Sequence[float]) -> Iterator[float]:
    """Of the levels that the axis is widened for."""
    known = [value for value in values if math.isfinite(value) and value > 0]
    if known and panel.y.base:
        low, high = min(known), max(known)
        reach = min(max(REACH, (high / low) ** SHARE), FAR)
        yield from (v.y for v in panel.levels if low / reach <= v.y <= high * reach)


def seen(panel: Panel, frame: Frame) -> list[Level]:
    """Those that lie on the axis."""
    return [level for level in panel.levels if 0 <= frame.y.place(level.y) <= 1]


def drawn(panel: Panel, frame: Frame) -> Iterator[str]:
    """Lines across the box, their words at its right end."""
    right = frame.left + frame.wide
    for level in seen(panel, frame):
        _, y = frame.at(frame.x.low, level.y)
        yield stroke(frame.left, y, right, y, "dim", DIM, ' stroke-dasharray="6 4"')
        yield text(right - 4, y - 4, level.label, "dim", "end", 11)
