# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Selects candidates that deserve more launches: successive halving (K. Jamieson, A. Talwalkar,
2016).

All candidates and the default share the launches of a round, so that they are compared side by
side. After each round the slower half is dropped, and the others are measured more often. The
remaining ones were partly picked by chance, so they are judged by other launches.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from mpigauge.products.tune.decide.choose import SWITCH
from mpigauge.products.tune.decide.grid import Grid


def better_half(costs: Mapping[str, float], least: int = 1) -> tuple[str, ...]:
    """The half of the candidates with the lowest costs, rounded up and never fewer than `least`, in
    the order of their costs. `costs`: by candidate, such as the mean logarithm of its times to the
    default's; one that is infinite or not a number is left out, for it could not be measured."""
    measured = [name for name, cost in costs.items() if math.isfinite(cost)]
    kept = max(least, math.ceil(len(measured) / 2))
    return tuple(sorted(measured, key=lambda name: costs[name])[:kept])


def contenders(grid: Grid, for_every_size: bool = False) -> tuple[str, ...]:
    """The candidates of a collective that are still in the race after a few launches: each is in
    the better half at some size, and there not slower than the default by more than a change of
    candidate costs. `for_every_size`: rules need a candidate for each size, so that the better half
    stays though all are slower. Candidates of which something is missing stay, and all of them
    where the default itself is not whole."""
    if not grid.launches:
        return (*grid.arms, *grid.incomplete)
    dearest = math.inf if for_every_size else SWITCH * grid.noise
    kept = dict.fromkeys(grid.incomplete)
    for size in grid.sizes:
        costs = {arm: _mean(grid, arm, size) for arm in grid.arms}
        kept |= dict.fromkeys(arm for arm in better_half(costs) if not costs[arm] > dearest)
    return tuple(arm for arm in (*grid.arms, *grid.incomplete) if arm in kept)


def _mean(grid: Grid, arm: str, size: int) -> float:
    ratios = grid.ratios(arm, size)
    return math.fsum(ratios) / len(ratios)
