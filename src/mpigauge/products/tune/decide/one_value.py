# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Chooses the best settings among those with one value for all messages.

A point of settings cannot be chosen size by size, as an algorithm can. So each is judged by its
time relative to the default's, in the weighted geometric mean over all kinds and sizes of messages
(grid.Grid.weights). Each point has its own launches, and a launch may meet the machine in another
state, which multiplies its times; so launches are compared as by `compare` (result.stats.ratio),
which leaves out the few that lie far from all others. Points that do not differ significantly from
the best are as good, and of these the one with the fewest settings is taken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

from mpigauge.model.names import CONTROL
from mpigauge.products.tune.decide.choose import LEAST_LAUNCHES, SizeRange
from mpigauge.products.tune.decide.grid import DEFAULT, Grid
from mpigauge.result.stats.ratio import Ratio, Sample, ratio


def costs(grid: Grid, arms: Sequence[str]) -> dict[str, float]:
    """The cost of each point: the weighted mean logarithm of its times to the default's, both in
    their fastest launch, as others may have met the machine in another state; infinite where it was
    not measured everywhere."""
    result = dict.fromkeys(arms, math.inf)
    if grid.launches:
        default = min(_logs(grid, DEFAULT, grid.sizes) + _logs(grid, CONTROL, grid.sizes))
        result |= {arm: min(_logs(grid, arm, grid.sizes)) - default for arm in grid.arms}
    return result


def best_for_all(grid: Grid, settings: Mapping[str, int]) -> SizeRange | None:
    """The point to be taken, which may still be no faster than the default with certainty
    (`Stretch.is_faster`); None: too little was measured. `settings`: how many each point sets."""
    if len(grid.launches) < LEAST_LAUNCHES or not grid.arms:
        return None
    judged = [_judged(grid, arm, grid.sizes, picked_from=len(grid.arms)) for arm in grid.arms]
    best = min(judged, key=lambda each: each.ratio.value)
    as_good = [each for each in judged if each.is_faster and each.ratio.value <= best.ratio.high]
    return min(as_good or [best], key=lambda each: (settings.get(each.arm, 0), each.ratio.value))


def slower_places(grid: Grid, arm: str, groups: Sequence[Sequence[int]]) -> list[SizeRange]:
    """Returns the ranges in which a point is significantly slower than the default. `groups`: the
    places of the grid that are neighbours, in their order."""

    def is_slower(place: int) -> bool:
        return _judged(grid, arm, (place,), picked_from=1).ratio.low > 1

    ranges = []
    for group in groups:
        for slower, places in groupby(group, is_slower):
            if slower:
                ranges.append(_judged(grid, arm, tuple(places), picked_from=1))
    return ranges


def _judged(grid: Grid, arm: str, places: Sequence[int], picked_from: int) -> SizeRange:
    """Returns the arm's ratio, and its p-value for being faster times `picked_from`, the number
    of points that it was picked from."""
    default = _logs(grid, DEFAULT, places) + _logs(grid, CONTROL, places)
    result = ratio(_sample(default), _sample(_logs(grid, arm, places)))
    p = min(1.0, _one_sided(result) * picked_from)
    return SizeRange(arm, tuple(places), result.estimate, len(grid.launches), p)


def _one_sided(result: Ratio) -> float:
    """Returns the one-sided p-value for being faster; 1 if it is unknown. The direction is that of
    the tested value, the middle of the interval, which may have another sign than the ratio's log.
    """
    if math.isnan(result.p):
        return 1.0
    middle = result.log if result.middle is None else result.middle
    if middle < 0:
        return result.p / 2
    return 1 - result.p / 2


def _sample(logs: Sequence[float]) -> Sample:
    return Sample(tuple(map(math.exp, logs)))


def _logs(grid: Grid, arm: str, places: Sequence[int]) -> list[float]:
    """Returns the weighted mean logarithm of times, of each launch that measured all places."""
    weights = {place: grid.weight(place) for place in places}
    if not math.fsum(weights.values()):
        weights = dict.fromkeys(places, 1.0)
    whole = math.fsum(weights.values())
    means = []
    for number in grid.launches:
        if all((arm, place, number) in grid.logs for place in places):
            logs = [weights[place] * grid.logs[arm, place, number] for place in places]
            means.append(math.fsum(logs) / whole)
    return means
