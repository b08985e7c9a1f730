# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The fitness of a machine for measuring: the scatter between launches, and the noise on its
cores."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mpigauge.result.stats.order import median

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.model.record import Noise
    from mpigauge.model.row import Row

Grade = Literal["good", "fair", "poor"]
GOOD_SCATTER, POOR_SCATTER = 0.03, 0.1
"""Limits of the scatter between launches. Six that scatter by 3 % give their median to about 5 %,
the usual precision."""
GOOD_LOST, POOR_LOST = 0.01, 0.1
"""Limits of the share of a core's time that is lost."""
_OF_NORMAL = 1.4826
"""The standard deviation by the median distance from the median, of normal values."""


@dataclass(frozen=True)
class Fitness:
    launches: int
    """The number of launches of the cell with most of them."""
    scatter: float
    """The relative standard deviation between launches, robust, of the median cell; NaN: no cell
    has two launches."""
    lost: float
    """The share of time lost on the worst core, as the median over the launches; NaN: noise was not
    sampled."""
    precise: int
    """The number of cells that are as precise as requested."""
    cells: int
    """The number of all cells."""

    @property
    def grade(self) -> Grade:
        """The grade; an unknown value counts neither for nor against."""
        if self.scatter > POOR_SCATTER or self.lost > POOR_LOST:
            return "poor"
        if self.scatter > GOOD_SCATTER or self.lost > GOOD_LOST:
            return "fair"
        return "good"


def fitness(rows: Sequence[Row], noise: Iterable[Noise], precision: float) -> Fitness:
    scatters = [_scatter(row.values_s) for row in rows if len(row.values_s) > 1]
    return Fitness(
        launches=max((row.launches for row in rows), default=0),
        scatter=median(scatters) if scatters else math.nan,
        lost=_lost(noise),
        precise=sum(row.relative_error <= precision for row in rows),
        cells=len(rows),
    )


def _scatter(values: Sequence[float]) -> float:
    middle = median(values)
    return _OF_NORMAL * median(abs(value - middle) for value in values) / middle


def _lost(noise: Iterable[Noise]) -> float:
    """The share of time lost on the worst core: the median of its samples before and after
    launches."""
    heard: dict[int, list[float]] = defaultdict(list)
    for each in noise:
        heard[each.cpu].append(each.lost_ratio)
    return max(map(median, heard.values()), default=math.nan)
