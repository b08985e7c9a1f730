# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A curve as small as a word: no axes, only its shape, with marks at its steps."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mpigauge.draw.styles import words

_WIDE, _HIGH, _EDGE = 96, 24, 3


def sparkline(
    values: Sequence[float], about: str, marks: Sequence[int] = (), wide: int = _WIDE,
    high: int = _HIGH,
) -> str:  # fmt: skip
    """A curve of positive values, evenly spaced, on a logarithmic scale; empty for fewer than
    two. `marks`: the indices of values with a line before them; `about`: a description of the
    picture."""
    logs_by_place = [(place, math.log(value)) for place, value in enumerate(values) if value > 0]
    if len(logs_by_place) < 2:
        return ""
    logs = [value for _, value in logs_by_place]
    low, span = min(logs), max(logs) - min(logs)
    if not span:
        low, span = low - 0.5, 1.0  # a level line stands in the middle
    step = (wide - 2 * _EDGE) / (len(values) - 1)

    def x(place: float) -> float:
        return _EDGE + place * step

    points = []
    for place, value in logs_by_place:
        y = high - _EDGE - (value - low) / span * (high - 2 * _EDGE)
        points.append(f"{x(place):.1f},{y:.1f}")
    lines = ""
    for mark in marks:
        at = f"{x(mark - 0.5):.1f}"
        lines += (
            f'<line x1="{at}" y1="0" x2="{at}" y2="{high}" '
            'stroke="currentColor" stroke-dasharray="3 2"/>'
        )
    curve = " ".join(points)
    return (
        f'<svg class="spark" role="img" aria-label="{words(about)}" viewBox="0 0 {wide} {high}" '
        f'width="{wide}" height="{high}">{lines}<polyline points="{curve}" fill="none" '
        'stroke="currentColor" stroke-width="1.5"/></svg>'
    )
