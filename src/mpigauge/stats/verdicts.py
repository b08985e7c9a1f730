# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What may be said of ratios that are shown together.

MORE and LESS: the ratio is not 1, by a test whose p-values are corrected over all ratios that are
shown together (S. Holm, Scandinavian Journal of Statistics 6 (1979) 65), so that two runs of one
thing make any row of a table differ in at most 5 % of tables. SAME: the whole 95 % interval lies
within the tolerance; then it does not matter whether it is exactly 1. Everything else is UNDECIDED,
with what would decide it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mpigauge.stats.launches import LEAST_FOR_INTERVAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.stats.ratio import Ratio

ALPHA = 0.05
TOLERANCE = 0.05
MOST_LAUNCHES = 200
"""Nobody is told to make more."""
Said = Literal["LESS", "MORE", "SAME", "UNDECIDED"]


@dataclass(frozen=True)
class Judged:
    said: Said
    p: float
    """After the correction; NaN where there was no test."""
    needed: int | None = None
    """About how many launches would decide it; None: decided, or more than MOST_LAUNCHES."""
    why: str = ""
    """Why nothing is said, where it is not for want of launches."""


def judge(ratios: Sequence[Ratio], tolerance: float = TOLERANCE) -> list[Judged]:
    """All ratios of one comparison. Those of fewer than six launches are not tested."""
    tests = [each.p if enough(each) else math.nan for each in ratios]
    count = sum(not math.isnan(p) for p in tests)
    room = math.log1p(tolerance)
    return [_judge(each, p, room, count) for each, p in zip(ratios, holm(tests), strict=True)]


def holm(ps: Sequence[float]) -> list[float]:
    """The p-values that each can be compared with the level itself; NaN are no tests.

    The smallest of m is multiplied by m, the next by m - 1, … and none is less than one before it.
    """
    tested = sorted((p, place) for place, p in enumerate(ps) if not math.isnan(p))
    adjusted, largest = [math.nan] * len(ps), 0.0
    for left, (p, place) in zip(range(len(tested), 0, -1), tested, strict=True):
        largest = max(largest, min(1.0, p * left))
        adjusted[place] = largest
    return adjusted


def enough(ratio: Ratio) -> bool:
    """Whether there are launches enough for a verdict."""
    return ratio.launches >= LEAST_FOR_INTERVAL


def _judge(ratio: Ratio, p: float, room: float, count: int) -> Judged:
    if not enough(ratio):
        return Judged("UNDECIDED", p, LEAST_FOR_INTERVAL if ratio.launches else None)
    if _within(ratio, room):
        return Judged("SAME", p)
    if p <= ALPHA:
        return Judged("MORE" if ratio.log > 0 else "LESS", p)
    return Judged("UNDECIDED", p, _needed(ratio, room, count))


def _within(ratio: Ratio, room: float) -> bool:
    return abs(ratio.log) + ratio.half_width(ALPHA) <= room


def _needed(ratio: Ratio, room: float, count: int) -> int | None:
    """Launches with which either would be said, if the ratio is what it seems to be."""
    if not ratio.error > 0:
        return None

    def decides(launches: int) -> bool:
        then = ratio.with_launches(launches)
        return _within(then, room) or abs(then.log) >= then.half_width(ALPHA / count)

    more = range(ratio.launches + 1, MOST_LAUNCHES + 1)
    place = bisect_left(more, True, key=decides)
    return more[place] if place < len(more) else None
