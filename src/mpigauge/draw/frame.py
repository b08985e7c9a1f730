# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The positions of a panel's values on the picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.draw.axes import Scale


@dataclass(frozen=True)
class Frame:
    """The inner box of a panel, and its axes."""

    left: float
    top: float
    wide: float
    high: float
    x: Scale
    y: Scale

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The position of a point on the picture, at most a box's height away from the box."""
        down = min(max(self.y.place(y), -1.0), 2.0)
        return self.left + self.x.place(x) * self.wide, self.top + (1 - down) * self.high
