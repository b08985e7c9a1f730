# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The ratio of two numbers that were each measured in several launches.

The ratio is that of the two medians over launches, which are the numbers that are printed. Its
interval and its p-value are Student's, of the logarithms of the launches' values:

- of launches that were taken in turn, the differences of each two that belong together (paired);
- else by B. L. Welch (Biometrika 34 (1947) 28), with the degrees of freedom of F. E. Satterthwaite
  (Biometrics Bulletin 2 (1946) 110), which lets the two scatter differently. To this comes what
  the machine's runs differ by, for the two met it at different times.

Student's interval lies about the ratio of the geometric means. If the two things differ by a
factor, it holds that factor, whichever mean one takes; so it is stretched to the ratio of the
medians where that lies outside.

Single launches that lie far from all others are left out of the interval: a launch that took three
times as long says nothing about the others. At most one in six of a side may be, as more are a
second group. Six launches cannot always tell the two cases apart; so the p-value is then not less
than that of a count: how rarely chance alone would put as many launches of one side below the
other's.

Launches may agree by chance more closely than each of them can know itself. So the standard
deviation between launches is never taken for less than half of what a launch's own 95 % interval
has to each side.

docs/explain/verdicts.md has how often all this is wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.model.between import LEAST_RUNS
from mpigauge.model.row import NOTHING, Estimate
from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL
from mpigauge.result.stats.order import median
from mpigauge.result.stats.student import quantile, two_sided

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.95
ENDS = 1.96
"""Standard deviations from the middle to the ends of a 95 % interval of many normal values."""
FAR = 4.0
"""A launch lies far from the median of its side at so many times the distance of the others."""
_ONE_IN = 6
_ONE_PAIR_IN = 5
"""The numbers of launches and of pairs that allow one outlier each."""


@dataclass(frozen=True)
class Sample:
    """The values of one number in all launches, with their errors."""

    values: tuple[float, ...]
    """The value of each launch; positive."""
    own_error: float = 0.0
    """Half the width of the 95 % interval within a launch, relative; 0: unknown."""
    between_runs: float = 0.0
    """Standard deviation, between runs of this machine, of the logarithm of such a number; 0: it
    does not count."""
    runs: int = 0
    """The number of earlier runs that `between_runs` was estimated from."""


@dataclass(frozen=True)
class Ratio:
    log: float
    """Logarithm of second / first; NaN where either is not positive."""
    error: float
    """Standard error of the middle of the interval; NaN with one launch, 0 where no launch differs
    from another."""
    freedom: float
    """Degrees of freedom of that error."""
    launches: int
    """Launches of the side with fewer; pairs if it is paired."""
    paired: bool = False
    middle: float | None = None
    """The middle of the interval of the logarithm; None: `log`."""
    between_runs: float = 0.0
    """The part of the error that comes from runs at different times."""
    left_out: int = 0
    """Launches, or pairs of them, that lie far from all others."""
    least_p: float = 0.0
    """The lower bound of the p-value if launches are left out."""

    @property
    def estimate(self) -> Estimate:
        """The ratio with its 95 % interval; the ends are NaN where the error is not known."""
        if not math.isfinite(self.log):
            return NOTHING
        low, high = self.ends(1 - LEVEL)
        return Estimate(math.exp(self.log), math.exp(low), math.exp(high))

    @property
    def p(self) -> float:
        """The p-value of no difference; NaN if the error is unknown."""
        return max(self._misses_by(self._middle), self.least_p)

    def is_within(self, room: float, miss: float) -> bool:
        """True if the whole interval of the logarithm lies within `room` of 0."""
        farthest = max(abs(self._middle), abs(self.log))
        return farthest < room and self._misses_by(room - abs(self._middle)) <= miss

    def differs(self, miss: float) -> bool:
        """True if the interval excludes 0."""
        return self._middle * self.log > 0 and self._misses_by(self._middle) <= miss

    def ends(self, miss: float) -> tuple[float, float]:
        """The ends of the interval of the logarithm that misses with this probability."""
        half = self.half_width(miss)
        if math.isnan(half):
            return math.nan, math.nan
        return min(self._middle - half, self.log), max(self._middle + half, self.log)

    def half_width(self, miss: float) -> float:
        """Half the width of the interval about its middle."""
        if not self.error > 0:
            return math.nan
        return quantile(miss, self.freedom) * self.error

    def with_launches(self, launches: int) -> Ratio:
        """Returns the expected ratio of so many launches, with the scatter of these."""
        share = self.launches / launches
        within = max(self.error**2 - self.between_runs**2, 0.0) * share
        freedom = self.freedom * (launches - 1) / (self.launches - 1)
        error = math.sqrt(within + self.between_runs**2)
        return replace(self, error=error, freedom=freedom, launches=launches)

    def _misses_by(self, distance: float) -> float:
        """Returns the probability of an error of at least `distance`; NaN if it is unknown."""
        if not self.error > 0:
            return math.nan
        return two_sided(distance / self.error, self.freedom)

    @property
    def _middle(self) -> float:
        if self.middle is None:
            return self.log
        return self.middle


UNKNOWN = Ratio(math.nan, math.nan, math.nan, 0)


def ratio(first: Sample, second: Sample, pairs: Sequence[tuple[int, int]] = ()) -> Ratio:
    """Computes second / first. `pairs`: places of values in launches that alternated; none: they
    did not."""
    if not all(value > 0 and math.isfinite(value) for value in (*first.values, *second.values)):
        return UNKNOWN
    a, b = _logs(first), _logs(second)
    result = _paired(first, second, pairs) if pairs else _apart(first, second)
    result = replace(result, log=printed(first, second))
    if not result.left_out:
        return result
    counted = _by_count(a, b)
    if pairs:
        counted = min(counted, _by_signs([b[j] - a[i] for i, j in pairs]))
    return replace(result, least_p=counted)


def printed(first: Sample, second: Sample) -> float:
    """The logarithm of the ratio of the medians."""
    return math.log(median(second.values) / median(first.values))


def _apart(first: Sample, second: Sample) -> Ratio:
    """The ratio of two sides of which no launches are pairs: Welch's test on logarithms."""
    a, b = _logs(first), _logs(second)
    kept_a, kept_b = _near((a, b), _ONE_IN, max(first.own_error, second.own_error))
    of_a, of_b = _variance(kept_a, first.own_error), _variance(kept_b, second.own_error)
    runs_a, runs_b = _between(first, of_a), _between(second, of_b)
    between_runs = runs_a[0] + runs_b[0]
    return Ratio(
        log=math.nan,
        error=math.sqrt(of_a + of_b + between_runs),
        freedom=_satterthwaite((of_a, len(kept_a) - 1), (of_b, len(kept_b) - 1), runs_a, runs_b),
        launches=min(len(a), len(b)),
        middle=_mean(kept_b) - _mean(kept_a),
        between_runs=math.sqrt(between_runs),
        left_out=len(a) + len(b) - len(kept_a) - len(kept_b),
    )


def _paired(first: Sample, second: Sample, pairs: Sequence[tuple[int, int]]) -> Ratio:
    a, b = _logs(first), _logs(second)
    steps = [b[j] - a[i] for i, j in pairs]
    own = math.hypot(first.own_error, second.own_error)
    (kept,) = _near((steps,), _ONE_PAIR_IN, own)
    return Ratio(
        log=math.nan,
        error=math.sqrt(_variance(kept, own)),
        freedom=len(kept) - 1,
        launches=len(steps),
        paired=True,
        middle=_mean(kept),
        left_out=len(steps) - len(kept),
    )


def _near(sides: Sequence[Sequence[float]], one_in: int, own_error: float) -> list[list[float]]:
    """The values of each side that do not lie far from its median, by the spread of the others of
    both sides; all values if there are few."""
    if min(map(len, sides)) < LEAST_FOR_INTERVAL:
        return [list(side) for side in sides]
    usual = own_error / ENDS
    distances = []
    for side in sides:
        middle = median(side)
        away = [abs(value - middle) for value in side]
        distances.append(away)
        usual = max(usual, sorted(away)[len(away) - len(away) // one_in - 1])
    kept = []
    for side, away in zip(sides, distances, strict=True):
        near = zip(side, away, strict=True)
        kept.append([value for value, distance in near if distance <= FAR * usual])
    return kept


def _by_count(a: Sequence[float], b: Sequence[float]) -> float:
    """The exact test of R. A. Fisher of how many of either side lie below the middle between their
    medians: with fixed sums, a count is hypergeometric."""
    between = (median(a) + median(b)) / 2
    below_a, below_b = _count_below(a, between), _count_below(b, between)
    below, whole = below_a + below_b, len(a) + len(b)
    least, most = max(0, below - len(b)), min(len(a), below)
    ways = []
    for count in range(least, most + 1):
        ways.append(math.comb(len(a), count) * math.comb(len(b), below - count))
    place = below_a - least
    fewer, more = sum(ways[: place + 1]), sum(ways[place:])
    return min(1.0, 2 * min(fewer, more) / math.comb(whole, below))


def _count_below(values: Sequence[float], limit: float) -> int:
    return sum(value < limit for value in values)


def _by_signs(steps: Sequence[float]) -> float:
    """The sign test."""
    up = sum(step > 0 for step in steps)
    fewer = min(up, len(steps) - up)
    ways = 0
    for count in range(fewer + 1):
        ways += math.comb(len(steps), count)
    return min(1.0, math.ldexp(ways, 1 - len(steps)))


def _logs(sample: Sample) -> list[float]:
    return [math.log(value) for value in sample.values]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(logs: Sequence[float], own_error: float) -> float:
    """Returns the variance of the mean of these logarithms; NaN of a single one."""
    if len(logs) < 2:
        return math.nan
    middle = _mean(logs)
    between = math.fsum((each - middle) ** 2 for each in logs) / (len(logs) - 1)
    return max(between, (own_error / ENDS) ** 2) / len(logs)


def _between(sample: Sample, own: float) -> tuple[float, int]:
    """Returns the variance between runs beyond this run's own, with its degrees of freedom."""
    beyond = 0.0
    if not math.isnan(own):
        beyond = max(sample.between_runs**2 - own, 0.0)
    return beyond, max(sample.runs, LEAST_RUNS) - 1


def _satterthwaite(*parts: tuple[float, int]) -> float:
    """Degrees of freedom of a sum of variances, each with its own; NaN where none has any."""
    whole = sum(variance for variance, _ in parts)
    apart = sum(variance**2 / freedom for variance, freedom in parts if freedom)
    if not apart > 0:
        return math.nan
    return whole**2 / apart
