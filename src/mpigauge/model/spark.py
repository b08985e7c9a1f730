# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The shape of a curve in a few characters."""

from __future__ import annotations

import math
from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
LETTERS = "_.-=+*%#"
"""Characters for output without block characters."""


def sparkline(values: Sequence[float], unicode: bool = True, most: int = 1 << 20) -> str:
    """One character per value, by its logarithm between the smallest and the largest; a blank for a
    value without one. Of more than `most` values, `most` evenly spaced ones are shown."""
    chosen = _evenly(list(map(_log, values)), most)
    numbers = [value for value in chosen if not math.isnan(value)]
    if not numbers:
        return ""
    low, high = min(numbers), max(numbers)
    steps = LETTERS
    if unicode:
        steps = BLOCKS
    scale = 0.0
    if high > low:
        scale = (len(steps) - 1) / (high - low)
    line = ""
    for value in chosen:
        if math.isnan(value):
            line += " "
        else:
            line += steps[round((value - low) * scale)]
    return line


def _log(value: float) -> float:
    """The logarithm; NaN for a value that is not positive and finite."""
    if value > 0 and math.isfinite(value):
        return math.log(value)
    return math.nan


def _evenly(values: Sequence[float], most: int) -> Sequence[float]:
    """At most `most` evenly spaced values, the first and the last among them."""
    if len(values) <= most:
        return values
    step = (len(values) - 1) / (most - 1)
    return [values[round(i * step)] for i in range(most)]
