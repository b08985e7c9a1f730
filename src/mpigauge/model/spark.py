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
    logs = [math.log(value) if value > 0 and math.isfinite(value) else math.nan for value in values]
    chosen = _evenly(logs, most)
    known = [value for value in chosen if value == value]
    if not known:
        return ""
    low, high = min(known), max(known)
    steps = BLOCKS if unicode else LETTERS
    scale = (len(steps) - 1) / (high - low) if high > low else 0.0
    return "".join(
        steps[round((value - low) * scale)] if value == value else " " for value in chosen
    )


def _evenly(values: Sequence[float], most: int) -> Sequence[float]:
    """The first and the last among them."""
    if len(values) <= most:
        return values
    step = (len(values) - 1) / (most - 1)
    return [values[round(i * step)] for i in range(most)]
