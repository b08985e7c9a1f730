# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Colours for numbers on a log scale, distinguishable by colour-blind people and on paper."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

Colour = tuple[int, int, int]
STOPS: tuple[Colour, ...] = (
    (255, 250, 205),
    (253, 199, 90),
    (226, 118, 84),
    (148, 52, 110),
    (45, 19, 75),
)
"""Colours from light to dark: their lightness alone orders them."""


@dataclass(frozen=True)
class ColourScale:
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> ColourScale:
        """The scale over positive numbers; there must be at least one."""
        numbers = list(values)
        return cls(min(numbers), max(numbers))

    def place(self, value: float) -> float:
        """The position of a value from 0 for the smallest to 1 for the largest; 0 if these are
        equal."""
        if self.high <= self.low:
            return 0.0
        return math.log(value / self.low) / math.log(self.high / self.low)

    def colour(self, value: float) -> Colour:
        at = min(1.0, max(0.0, self.place(value))) * (len(STOPS) - 1)
        below = min(int(at), len(STOPS) - 2)
        red, green, blue = (
            round(a + (b - a) * (at - below))
            for a, b in zip(STOPS[below], STOPS[below + 1], strict=True)
        )
        return red, green, blue
