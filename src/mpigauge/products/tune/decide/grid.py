# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The times of one collective with each of its candidates, size by size and launch by launch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from mpigauge.model.names import CONTROL
from mpigauge.result.stats.order import median

DEFAULT = ""
"""The arm of the MPI's default."""
Place = tuple[str, int, int]
"""An arm, a message size and a launch; where arms have launches of their own, a round of them."""


@dataclass(frozen=True)
class Grid:
    """The times of all arms, from launches in which the default was measured at every size."""

    sizes: tuple[int, ...]
    launches: tuple[int, ...]
    arms: tuple[str, ...]
    """The candidates that were measured at every size of every launch."""
    incomplete: tuple[str, ...]
    """The others."""
    logs: Mapping[Place, float] = field(hash=False)
    """Logarithms of times, of the default and the control too."""
    weights: Mapping[int, float] = field(default_factory=dict, hash=False)
    """The weight of each size; missing ones weigh nothing, and all weigh the same if it is
    empty."""

    def weight(self, size: int) -> float:
        """The mean of all sizes is 1."""
        whole = math.fsum(self.weights.get(each, 0.0) for each in self.sizes)
        if whole:
            return self.weights.get(size, 0.0) * len(self.sizes) / whole
        return 1.0

    def ratios(self, arm: str, size: int) -> list[float]:
        """Returns the logarithm of the arm's time relative to the default's, in each launch."""
        return [self.logs[arm, size, n] - self.logs[DEFAULT, size, n] for n in self.launches]

    def over(self, arm: str, sizes: Sequence[int]) -> list[float]:
        """The logarithm of the ratio in each launch as a mean over these sizes: those of one launch
        move together."""
        weights = [self.weight(size) for size in sizes]
        if not math.fsum(weights):
            weights = [1.0] * len(sizes)
        columns = [
            [weight * ratio for ratio in self.ratios(arm, size)]
            for weight, size in zip(weights, sizes, strict=True)
        ]
        whole = math.fsum(weights)
        return [math.fsum(of_launch) / whole for of_launch in zip(*columns, strict=True)]

    def independent(self, sizes: Sequence[int]) -> float:
        """Returns the number of equally weighted sizes whose mean scatters as that of these."""
        weights = [self.weight(size) for size in sizes]
        squares = math.fsum(weight * weight for weight in weights)
        if squares:
            return math.fsum(weights) ** 2 / squares
        return float(len(sizes))

    @property
    def noise(self) -> float:
        """The difference of the default from itself within a launch: the median over sizes and
        launches of the distance of two logarithms; NaN: the control was not measured."""
        pairs = []
        for size, n in product(self.sizes, self.launches):
            if (CONTROL, size, n) in self.logs:
                pairs.append(abs(self.logs[CONTROL, size, n] - self.logs[DEFAULT, size, n]))
        if pairs:
            return median(pairs)
        return math.nan


def grid_of(times: Mapping[Place, float], sizes: Iterable[int], arms: Iterable[str]) -> Grid:
    """A grid from the times in seconds, of which some may be missing."""
    all_sizes = tuple(sorted(set(sizes)))
    logs = {place: math.log(time) for place, time in times.items() if time > 0}
    seen = sorted({launch for _, _, launch in logs})
    launches = tuple(n for n in seen if all((DEFAULT, size, n) in logs for size in all_sizes))
    asked = [arm for arm in arms if arm not in (DEFAULT, CONTROL)]

    def is_whole(arm: str) -> bool:
        places = [(arm, size, n) for size, n in product(all_sizes, launches)]
        return bool(places) and all(place in logs for place in places)

    return Grid(
        sizes=all_sizes,
        launches=launches,
        arms=tuple(arm for arm in asked if is_whole(arm)),
        incomplete=tuple(arm for arm in asked if not is_whole(arm)),
        logs=logs,
    )
