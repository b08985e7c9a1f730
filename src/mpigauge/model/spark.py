# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The shape of a curve in a few characters."""

from __future__ import annotations

import math
from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
LETTERS = "_.-=+*%#"
"""Where there are no blocks."""


def sparkline(values: Sequence[float], unicode: bool = True, most: int = 1 << 20) -> str:
    """A character for each value, by its logarithm between the smallest and the largest; a blank
    where one is not known. Of more than `most` values, so many evenly chosen."""
    chosen = _evenly(list(map(_log, values)), most)
    known = [value for value in chosen if not math.isnan(value)]
    if not known:
        return ""
    low, high = min(known), max(known)
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
    """NaN where it has none."""
    if value > 0 and math.isfinite(value):
        return math.log(value)
    return math.nan


def _evenly(values: Sequence[float], most: int) -> Sequence[float]:
    """The first and the last among them."""
    if len(values) <= most:
        return values
    step = (len(values) - 1) / (most - 1)
    return [values[round(i * step)] for i in range(most)]
