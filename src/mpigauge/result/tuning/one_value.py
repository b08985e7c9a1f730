# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Settings with one value for all messages: which is best for all of them together.

A point of settings cannot be chosen size by size, as an algorithm can. So each is judged by the
mean of what it takes of the default's time, over all kinds and sizes of messages, each of which
counts what it weighs (grid.Grid.weights). Points that cannot be told from the best are as good, and
of these the one with the fewest settings is taken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

from mpigauge.result.tuning.choose import LEAST_LAUNCHES, Stretch, judge
from mpigauge.result.tuning.grid import Grid


def costs(grid: Grid, arms: Sequence[str]) -> dict[str, float]:
    """By point the weighted mean logarithm of what it takes of the default's time; infinite where
    it was not measured everywhere."""
    found = dict.fromkeys(arms, math.inf)
    for arm in grid.arms:
        ratios = grid.over(arm, grid.sizes)
        if ratios:
            found[arm] = math.fsum(ratios) / len(ratios)
    return found


def best_for_all(grid: Grid, settings: Mapping[str, int]) -> Stretch | None:
    """The point to be taken, which may still be no faster than the default with certainty
    (`Stretch.is_faster`); None: too little was measured. `settings`: how many each point sets."""
    if len(grid.launches) < LEAST_LAUNCHES or not grid.arms:
        return None
    judged = [judge(grid, [(arm, grid.sizes)], picked_from=len(grid.arms))[0] for arm in grid.arms]
    best = min(judged, key=lambda each: each.ratio.value)
    as_good = [each for each in judged if each.is_faster and each.ratio.value <= best.ratio.high]
    return min(as_good or [best], key=lambda each: (settings.get(each.arm, 0), each.ratio.value))


def slower_places(grid: Grid, arm: str, groups: Sequence[Sequence[int]]) -> list[Stretch]:
    """Where a point takes longer than the default with certainty, as neighbours together. `groups`:
    the places of the grid that are neighbours, in their order."""
    found = []
    for group in groups:
        for slower, places in groupby(group, lambda place: _is_slower(grid, arm, place)):
            if slower:
                found += judge(grid, [(arm, tuple(places))], picked_from=1)
    return found


def _is_slower(grid: Grid, arm: str, place: int) -> bool:
    (judged,) = judge(grid, [(arm, (place,))], picked_from=1)
    return judged.ratio.low > 1
