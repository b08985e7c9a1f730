# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The verdicts on ratios that are shown together.

MORE and LESS: the ratio is not 1, by a test whose p-values are corrected over all ratios that are
shown together (S. Holm, Scandinavian Journal of Statistics 6 (1979) 65), so that two equal runs
show any difference in at most 5 % of comparisons. SAME: the whole 95 % interval lies within the
tolerance, so it does not matter whether the ratio is exactly 1. Everything else is UNDECIDED, with
the number of launches that would decide it.

Ratios come in several families: single rows, and statements over many rows. Each family has a
weight that its ratios share, so that many single ratios do not swamp a test over all sizes; the
weights of ratios already found different go to the others.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.stats.ratio import Ratio

ALPHA = 0.05
TOLERANCE = 0.05
MOST_LAUNCHES = 200
"""The most launches that are ever recommended."""
Verdict = Literal["LESS", "MORE", "SAME", "UNDECIDED"]


@dataclass(frozen=True)
class Judged:
    verdict: Verdict
    p: float
    """The corrected p-value; NaN if there was no test."""
    needed: int | None = None
    """About how many launches would decide it; None: decided, or more than MOST_LAUNCHES."""
    why: str = ""
    """The reason for UNDECIDED, unless it is a lack of launches."""


def judge(ratios: Sequence[Ratio], tolerance: float = TOLERANCE) -> list[Judged]:
    """All ratios of one comparison. Those of fewer than six launches are not tested."""
    return judge_families([(1.0, ratios)], tolerance)[0]


def judge_families(
    families: Sequence[tuple[float, Sequence[Ratio]]], tolerance: float = TOLERANCE
) -> list[list[Judged]]:
    """Verdicts on ratios of several families, each with its weight."""
    ps: list[float] = []
    weights: list[float] = []
    of_tests = []
    for weight, ratios in families:
        tests = [each.p if enough(each) else math.nan for each in ratios]
        tested = sum(not math.isnan(p) for p in tests)
        each_weight = weight / max(tested, 1)
        ps += tests
        weights += [each_weight] * len(tests)
        of_tests += [each_weight] * tested
    whole = math.fsum(of_tests) or 1.0
    room = math.log1p(tolerance)
    adjusted = zip(holm(ps, weights), weights, strict=True)
    judged = []
    for _, ratios in families:
        judged.append([_judge(ratio, *next(adjusted), room, whole) for ratio in ratios])
    return judged


def holm(ps: Sequence[float], weights: Sequence[float] = ()) -> list[float]:
    """The p-values that each can be compared with the level itself; NaN are not tests.

    Without weights the smallest of m is multiplied by m, the next by m - 1, … and none is less than
    one before it. With them it is multiplied by what weight it and those behind it have together,
    divided by its own.
    """
    share = weights or [1.0] * len(ps)
    tested = sorted((p / share[i], p, i) for i, p in enumerate(ps) if not math.isnan(p))
    adjusted, largest = [math.nan] * len(ps), 0.0
    left = math.fsum(share[place] for _, _, place in tested)
    for _, p, place in tested:
        largest = max(largest, min(1.0, p * left / share[place]))
        adjusted[place] = largest
        left -= share[place]
    return adjusted


def enough(ratio: Ratio) -> bool:
    """True if there are enough launches for a verdict."""
    return ratio.launches >= LEAST_FOR_INTERVAL


def _judge(ratio: Ratio, p: float, weight: float, room: float, whole: float) -> Judged:
    """Returns the verdict on one ratio. `p`: adjusted; `weight`: its share of `whole`, the
    weight of all tests; `room`: the tolerance as a logarithm."""
    if ratio.launches == 0:
        return Judged("UNDECIDED", p)
    if not enough(ratio):
        return Judged("UNDECIDED", p, LEAST_FOR_INTERVAL)
    if ratio.is_within(room, ALPHA):
        return Judged("SAME", p)
    if p <= ALPHA and ratio.differs(ALPHA):
        return Judged("MORE" if ratio.log > 0 else "LESS", p)
    return Judged("UNDECIDED", p, _needed(ratio, room, ALPHA * weight / whole))


def _needed(ratio: Ratio, room: float, level: float) -> int | None:
    """Returns the launches that would decide, if the ratio is as estimated; None: too many or
    unknown. `level`: its share of the level of all ratios before others are found different."""
    if not ratio.error > 0:
        return None

    def decides(launches: int) -> bool:
        then = ratio.with_launches(launches)
        return then.is_within(room, ALPHA) or then.differs(level)

    more = range(ratio.launches + 1, MOST_LAUNCHES + 1)
    place = bisect_left(more, True, key=decides)
    if place == len(more):
        return None
    return more[place]
