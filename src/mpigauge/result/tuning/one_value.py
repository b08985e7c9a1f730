# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Settings with one value for all messages: which is best for all of them together.

A point of settings cannot be chosen size by size, as an algorithm can. So each is judged by what it
takes of the default's time in the geometric mean over all kinds and sizes of messages, each of
which counts what it weighs (grid.Grid.weights). Each point has launches of its own, and a launch
may meet the machine in another state, which multiplies its times; so launches are compared as
`compare` does it (result.stats.ratio), which leaves out the few that lie far from all others.
Points that cannot be told from the best are as good, and of these the one with the fewest settings
is taken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

from mpigauge.model.names import CONTROL
from mpigauge.result.stats.ratio import Ratio, Sample, ratio
from mpigauge.result.tuning.choose import LEAST_LAUNCHES, SizeRange
from mpigauge.result.tuning.grid import DEFAULT, Grid


def costs(grid: Grid, arms: Sequence[str]) -> dict[str, float]:
    """The cost of each point: the weighted mean logarithm of its times to the default's, both in
    their fastest launch, as others may have met the machine in another state; infinite where it was
    not measured everywhere."""
    found = dict.fromkeys(arms, math.inf)
    if grid.launches:
        default = min(_logs(grid, DEFAULT, grid.sizes) + _logs(grid, CONTROL, grid.sizes))
        found |= {arm: min(_logs(grid, arm, grid.sizes)) - default for arm in grid.arms}
    return found


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
    """Where a point takes longer than the default with certainty, as neighbours together. `groups`:
    the places of the grid that are neighbours, in their order."""

    def is_slower(place: int) -> bool:
        return _judged(grid, arm, (place,), picked_from=1).ratio.low > 1

    found = []
    for group in groups:
        for slower, places in groupby(group, is_slower):
            if slower:
                found.append(_judged(grid, arm, tuple(places), picked_from=1))
    return found


def _judged(grid: Grid, arm: str, places: Sequence[int], picked_from: int) -> SizeRange:
    """With its p-value for being faster, times the number of points that it was picked from."""
    default = _logs(grid, DEFAULT, places) + _logs(grid, CONTROL, places)
    found = ratio(_sample(default), _sample(_logs(grid, arm, places)))
    p = min(1.0, _one_sided(found) * picked_from)
    return SizeRange(arm, tuple(places), found.estimate, len(grid.launches), p)


def _one_sided(found: Ratio) -> float:
    """How probable so small a ratio is where nothing differs; 1: nobody knows."""
    if math.isnan(found.p):
        return 1.0
    if found.log < 0:
        return found.p / 2
    return 1 - found.p / 2


def _sample(logs: Sequence[float]) -> Sample:
    return Sample(tuple(map(math.exp, logs)))


def _logs(grid: Grid, arm: str, places: Sequence[int]) -> list[float]:
    """Of each launch that measured all of them, the weighted mean logarithm of its times."""
    weights = {place: grid.weight(place) for place in places}
    if not math.fsum(weights.values()):
        weights = dict.fromkeys(places, 1.0)
    whole = math.fsum(weights.values())
    found = []
    for number in grid.launches:
        if all((arm, place, number) in grid.logs for place in places):
            logs = [weights[place] * grid.logs[arm, place, number] for place in places]
            found.append(math.fsum(logs) / whole)
    return found
