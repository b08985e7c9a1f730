# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Chooses a candidate for each range of message sizes, so that nothing gets slower.

Taking the fastest of many candidates at each size mistakes chance for speed. So there are two
steps:

1. A path over the sizes, by dynamic programming (R. Bellman, 1957). Each step costs the mean
   logarithm of the candidate's time relative to the default's, measured in the same launches, times
   the weight of the size; each change of candidate costs twice the noise, by which the default
   differs from itself. No path takes a candidate to a size at which it was slower than the default
   in more than one of six launches.
2. A test of each stretch of one candidate as a whole for being faster than the default: Student's
   test of its launches. The stretch was picked out of many candidates because it looked fast, so
   its p-value is multiplied by their number, and corrected over all stretches (S. Holm). Unless it
   is significantly faster, the default stays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from mpigauge.model.row import Estimate
from mpigauge.products.tune.decide.grid import DEFAULT, Grid
from mpigauge.result.stats.student import quantile, two_sided
from mpigauge.result.stats.verdicts import ALPHA, holm

SWITCH = 2.0
"""The cost of a change of candidate, in units of the noise (Grid.noise)."""
OF_MEDIAN = 1.4826
"""Standard deviations of normal values to the median of their distances."""
ONE_IN = 6
"""The number of launches for each one in which a candidate may be slower than the default."""
AS_GOOD = 1.10
"""The largest upper end of a ratio to the default's time at which a candidate may replace it."""
LEAST_LAUNCHES = 3
"""The fewest launches for an error; with fewer, nothing is chosen."""


@dataclass(frozen=True)
class SizeRange:
    """Neighbouring sizes for which one candidate looked best."""

    arm: str
    sizes: tuple[int, ...]
    ratio: Estimate
    """Its times relative to the default's: geometric mean over the sizes, with 95 % interval."""
    launches: int
    p: float
    """The p-value of being faster, after the corrections."""

    @property
    def is_faster(self) -> bool:
        """True if its interval holds no slower one, also if one candidate is tested in one
        direction."""
        return self.p <= ALPHA and self.ratio.high < 1

    @property
    def is_as_good(self) -> bool:
        return self.ratio.high <= AS_GOOD


@dataclass(frozen=True)
class Choice:
    """The ranges of sizes chosen for one collective."""

    noise: float
    """The median difference of the default from itself, as a logarithm."""
    faster: tuple[SizeRange, ...]
    doubtful: tuple[SizeRange, ...]
    """Ranges that stay with the default, since they are not significantly faster."""


def choose(grid: Grid) -> Choice:
    """The candidates of a collective by size; nothing where too few launches are whole."""
    noise = grid.noise
    if len(grid.launches) < LEAST_LAUNCHES or not grid.arms or math.isnan(noise):
        return Choice(noise, (), ())
    stretches = _stretches(grid, best_path(grid, SWITCH * noise))
    judged = judge(grid, stretches, picked_from=len(grid.arms))
    faster = tuple(each for each in judged if each.is_faster)
    doubtful = tuple(each for each in judged if not each.is_faster)
    return Choice(noise, faster, doubtful)


def fastest(grid: Grid) -> list[SizeRange]:
    """The ranges in which an arm is significantly faster than the default, each with the fastest:
    what could be reached, so that a change of arm costs nothing."""
    if len(grid.launches) < LEAST_LAUNCHES or not grid.arms:
        return []
    judged = judge(grid, _stretches(grid, best_path(grid, 0.0)), picked_from=len(grid.arms))
    return [each for each in judged if each.is_faster]


def best_path(grid: Grid, price: float) -> list[str]:
    """The arm for each size: least in the sum of mean logarithms, and of the price for each change.
    It begins with the default, so that leaving it costs at the first size, too."""
    return _cheapest(grid, (DEFAULT, *grid.arms), price, _cost)


def stand_ins(grid: Grid, faster: Sequence[SizeRange]) -> tuple[SizeRange, ...]:
    """Stand-ins for rules that cannot name the default: the candidates that come nearest to it at
    all sizes but those of the rules. They are judged by `is_as_good`."""
    if not grid.arms:
        return ()
    ruled = {size for each in faster for size in each.sizes}
    stretches: list[tuple[str, Sequence[int]]] = []
    for has_rule, sizes in groupby(grid.sizes, ruled.__contains__):
        if not has_rule:
            part = replace(grid, sizes=tuple(sizes))
            path = _cheapest(part, part.arms, SWITCH * grid.noise, _mean)
            stretches += _stretches(part, path)
    return tuple(judge(grid, stretches))


def _cheapest(
    grid: Grid, arms: Sequence[str], price: float, cost: Callable[[Grid, str, int], float]
) -> list[str]:
    leaves = DEFAULT in arms
    costs = {arm: price if leaves and arm != DEFAULT else 0.0 for arm in arms}
    came_from: list[dict[str, str]] = []
    for place, size in enumerate(grid.sizes):
        before = dict(costs)
        origin: dict[str, str] = {}
        for arm in arms:
            origin[arm] = arm
            if place > 0:
                origin[arm] = min(arms, key=lambda last: _leaving(last, arm, before, price))
                costs[arm] = _leaving(origin[arm], arm, before, price)
            costs[arm] += _weighed(grid.weight(size), cost(grid, arm, size))
        came_from.append(origin)
    path = [min(arms, key=lambda arm: costs[arm])]
    for origin in reversed(came_from[1:]):
        path.append(origin[path[-1]])
    return path[::-1]


def judge(
    grid: Grid, stretches: Sequence[tuple[str, Sequence[int]]], picked_from: int = 1
) -> list[SizeRange]:
    """Returns each stretch with its ratio and p-value. `picked_from`: the number of candidates it
    was picked from by these same launches; 1: it was chosen without them."""
    tested = [_tested(grid, arm, sizes) for arm, sizes in stretches]
    alone = [min(1.0, p * picked_from) for _, p in tested]
    corrected = holm(alone)
    return [
        SizeRange(arm, tuple(sizes), ratio, len(grid.launches), p)
        for (arm, sizes), (ratio, _), p in zip(stretches, tested, corrected, strict=True)
    ]


def _weighed(weight: float, cost: float) -> float:
    """A size that counts nothing may still not be slower."""
    if math.isinf(cost):
        return cost
    return weight * cost


def _leaving(last: str, arm: str, costs: Mapping[str, float], price: float) -> float:
    return costs[last] + (0.0 if last == arm else price)


def _cost(grid: Grid, arm: str, size: int) -> float:
    if arm == DEFAULT:
        return 0.0
    ratios = grid.ratios(arm, size)
    if sum(ratio > 0 for ratio in ratios) > len(ratios) // ONE_IN:
        return math.inf
    return _mean(grid, arm, size)


def _mean(grid: Grid, arm: str, size: int) -> float:
    ratios = grid.ratios(arm, size)
    return math.fsum(ratios) / len(ratios)


def _stretches(grid: Grid, path: Sequence[str]) -> list[tuple[str, list[int]]]:
    """Returns the stretches of the path, without those of the default."""
    pairs = zip(path, grid.sizes, strict=True)
    stretches = [
        (arm, [size for _, size in own]) for arm, own in groupby(pairs, lambda pair: pair[0])
    ]
    return [(arm, sizes) for arm, sizes in stretches if arm != DEFAULT]


def _tested(grid: Grid, arm: str, sizes: Sequence[int]) -> tuple[Estimate, float]:
    """Returns the ratio and its p-value for being faster.

    Few launches may agree by chance, so their scatter is not taken for less than the default's own
    over as many sizes.
    """
    values = grid.over(arm, sizes)
    count = len(values)
    middle = math.fsum(values) / count
    if count < 2:
        return Estimate(math.exp(middle), math.nan, math.nan), 1.0
    scatter = math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (count - 1))
    if not math.isnan(grid.noise):
        scatter = max(scatter, OF_MEDIAN * grid.noise / math.sqrt(grid.independent(sizes)))
    error = scatter / math.sqrt(count)
    if error == 0:
        return Estimate(*[math.exp(middle)] * 3), 1.0
    half = quantile(1 - 0.95, count - 1) * error
    above = two_sided(middle / error, count - 1) / 2
    p = above if middle < 0 else 1 - above
    return Estimate(*map(math.exp, (middle, middle - half, middle + half))), p
