# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The ratio of two numbers that were each measured in several launches.

It is the ratio of the geometric means over launches of the launches' values (each a median), so it
is a difference of means of logarithms, and has an interval and a p-value by Student's t:

- of launches that were taken in turn, the differences of each two that belong together (paired);
- else by B. L. Welch (Biometrika 34 (1947) 28), with the degrees of freedom of F. E. Satterthwaite
  (Biometrics Bulletin 2 (1946) 110), which lets the two scatter differently.

Launches may agree by chance more closely than each of them can know itself. So the standard
deviation between launches is never taken for less than half of what a launch's own 95 % interval
has to each side.

Why means of logarithms and not medians: where launches fall into two groups, as they do on many
machines, tests of six medians or trimmed means call two runs of one thing different far too often
(docs/explain/verdicts.md has the figures).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.row import NOTHING, Estimate
from mpigauge.stats.student import quantile, two_sided

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.95
ENDS = 1.96
"""Standard deviations from the middle to the ends of a 95 % interval of many normal values."""


@dataclass(frozen=True)
class Sample:
    """One number as launches know it."""

    values: tuple[float, ...]
    """Of each launch; positive."""
    own_error: float = 0.0
    """What the 95 % interval inside a launch has to each side, relative; 0: not known."""


@dataclass(frozen=True)
class Ratio:
    log: float
    """Logarithm of second / first; NaN where either is not positive."""
    error: float
    """Its standard error; NaN with one launch, 0 where no launch differs from another."""
    freedom: float
    """Degrees of freedom of that error."""
    launches: int
    """Of the side that has fewer; of pairs where it is paired."""
    paired: bool = False

    @property
    def estimate(self) -> Estimate:
        """With its 95 % interval; the ends are NaN where the error is not known."""
        if not math.isfinite(self.log):
            return NOTHING
        half = self.half_width(1 - LEVEL)
        return Estimate(*map(math.exp, (self.log, self.log - half, self.log + half)))

    @property
    def p(self) -> float:
        """How probable so large a difference is where there is none; NaN where nobody knows."""
        if not self.error > 0:
            return math.nan
        return two_sided(self.log / self.error, self.freedom)

    def half_width(self, miss: float) -> float:
        """Of the interval of the logarithm that misses with this probability."""
        if not self.error > 0:
            return math.nan
        return quantile(miss, self.freedom) * self.error

    def with_launches(self, launches: int) -> Ratio:
        """What it would probably be with so many, which scatter as these do."""
        share = self.launches / launches
        freedom = self.freedom * (launches - 1) / (self.launches - 1)
        return Ratio(self.log, self.error * math.sqrt(share), freedom, launches, self.paired)


UNKNOWN = Ratio(math.nan, math.nan, math.nan, 0)


def ratio(first: Sample, second: Sample, pairs: Sequence[tuple[int, int]] = ()) -> Ratio:
    """second / first. `pairs` are places in their values that were measured in turn; none: they
    were not."""
    if not all(value > 0 and math.isfinite(value) for value in (*first.values, *second.values)):
        return UNKNOWN
    if pairs:
        return _paired(first, second, pairs)
    a, b = _logs(first), _logs(second)
    of_a, of_b = _variance(a, first.own_error), _variance(b, second.own_error)
    return Ratio(
        log=_mean(b) - _mean(a),
        error=math.sqrt(of_a + of_b),
        freedom=_satterthwaite((of_a, len(a) - 1), (of_b, len(b) - 1)),
        launches=min(len(a), len(b)),
    )


def _paired(first: Sample, second: Sample, pairs: Sequence[tuple[int, int]]) -> Ratio:
    a, b = _logs(first), _logs(second)
    steps = [b[j] - a[i] for i, j in pairs]
    own = math.hypot(first.own_error, second.own_error)
    error = math.sqrt(_variance(steps, own))
    return Ratio(_mean(steps), error, len(steps) - 1, len(steps), paired=True)


def _logs(sample: Sample) -> list[float]:
    return [math.log(value) for value in sample.values]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(logs: Sequence[float], own_error: float) -> float:
    """Of their mean; NaN of a single one."""
    if len(logs) < 2:
        return math.nan
    middle = _mean(logs)
    between = math.fsum((each - middle) ** 2 for each in logs) / (len(logs) - 1)
    return max(between, (own_error / ENDS) ** 2) / len(logs)


def _satterthwaite(*parts: tuple[float, int]) -> float:
    whole = sum(variance for variance, _ in parts)
    apart = sum(variance**2 / freedom for variance, freedom in parts if freedom)
    return whole**2 / apart if apart > 0 else math.nan
