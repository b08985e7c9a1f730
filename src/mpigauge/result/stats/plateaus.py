# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A curve over sizes as plateaus, levels on which it stays, and what lies between them.

Models of messages (result/stats/pieces.py) have lines whose time grows with the size; how long a
load takes does not grow inside a cache, but from one to the next. So a level is what stays within
ALIKE over three sizes or more; where nothing stays, nothing is claimed.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from mpigauge.model.row import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

ALIKE = 1.2
"""The largest of a level by its smallest, their errors left out."""
LEAST_SIZES = 3

Point = tuple[int, Estimate]
"""A size and what was measured there."""


@dataclass(frozen=True)
class Plateau:
    first_bytes: int
    last_bytes: int
    value: Estimate
    """The median of its sizes, with the range of what they are known to."""
    next_bytes: int | None
    """The next size that was measured, where the level has ended; None: it does not exist."""


def plateaus(points: Sequence[Point]) -> tuple[Plateau, ...]:
    """The levels of this curve, sizes upwards; the longest that begins at each place."""
    ordered = sorted(points, key=lambda point: point[0])
    result: list[Plateau] = []
    at = 0
    while at < len(ordered):
        end = _end(ordered, at)
        if end - at >= LEAST_SIZES:
            result.append(_plateau(ordered, at, end))
            at = end
        else:
            at += 1
    return tuple(result)


def _end(points: Sequence[Point], start: int) -> int:
    """The index behind the last size of the plateau that begins at `start`."""
    end = start + 1
    while end < len(points) and _alike(points[start : end + 1]):
        end += 1
    return end


def _alike(points: Sequence[Point]) -> bool:
    return max(_low(value) for _, value in points) <= ALIKE * min(_high(v) for _, v in points)


def _low(value: Estimate) -> float:
    return value.low if value.low <= value.value else value.value  # NaN where it is not known


def _high(value: Estimate) -> float:
    if value.high >= value.value:
        return value.high
    return value.value


def _plateau(points: Sequence[Point], start: int, end: int) -> Plateau:
    within = points[start:end]
    value = Estimate(
        median(value.value for _, value in within),
        min(_low(value) for _, value in within),
        max(_high(value) for _, value in within),
    )
    behind = points[end][0] if end < len(points) else None
    return Plateau(within[0][0], within[-1][0], value, behind)
