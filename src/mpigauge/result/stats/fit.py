# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The cost model t = α + β·n (R. W. Hockney, Parallel Computing 20 (1994) 389) by least squares.

What is made small is the sum of squares of the *relative* residuals, (t - fitted) / t: sizes from
0 to 4 MiB span five decades of time, and what a clock sees is wrong by a share of the time. With
absolute residuals, as in the ping_pong programs that print `a = latency`, the largest size alone
decides, and α, a few hundred nanoseconds, drowns in its residual; `relative=False` does that, for
comparison with such tables, and is right for a narrow range of sizes.

One straight line rarely fits both ends, because MPIs change their protocol on the way. Therefore
`in_two_ranges` also splits the sizes where two lines fit best, as the tables for small and large
messages do.

The intervals are 95 %, from the scatter of the points round the line (Student's t): they say how
well a line describes these sizes, not how well each time is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.row import NOTHING, Estimate
from mpigauge.result.stats.student import quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mpigauge.model.row import Row

    _Array = NDArray[np.float64]
    _Places = NDArray[np.intp]

LEAST_POINTS = 3
_LEAST_IN_PART = 4
_LEVEL = 0.95

Point = tuple[int, float]
"""Message size in bytes, time in seconds."""


@dataclass(frozen=True)
class Residual:
    message_bytes: int
    observed_s: float
    fitted_s: float
    error_s: float
    """Half of the 95 % interval of the fitted time."""

    @property
    def relative(self) -> float:
        return self.fitted_s / self.observed_s - 1


@dataclass(frozen=True)
class Fit:
    alpha_s: Estimate
    beta_s_per_byte: Estimate
    relative: bool
    points: tuple[Residual, ...]

    @property
    def bandwidth(self) -> Estimate:
        """1/β in bytes per second: what very long messages would reach."""
        return self.beta_s_per_byte.under(1.0)

    @property
    def half_bandwidth_bytes(self) -> Estimate:
        """n½ = α/β: the size at which half of that bandwidth is reached."""
        if self.alpha_s.value <= 0 or self.beta_s_per_byte.value <= 0:
            return NOTHING
        value = self.alpha_s.value / self.beta_s_per_byte.value
        spread = math.hypot(self.alpha_s.relative_error, self.beta_s_per_byte.relative_error)
        return Estimate(value, value * max(1 - spread, 0), value * (1 + spread))

    def at(self, message_bytes: int) -> float:
        """The time of this size by the line, in seconds."""
        return self.alpha_s.value + self.beta_s_per_byte.value * message_bytes

    @property
    def first_bytes(self) -> int:
        return self.points[0].message_bytes

    @property
    def last_bytes(self) -> int:
        return self.points[-1].message_bytes

    @property
    def worst(self) -> Residual:
        """The point that the line misses most."""
        return max(self.points, key=lambda point: abs(point.relative))


def fit(
    points: Iterable[Point], relative: bool = True, errors: Mapping[int, float] | None = None
) -> Fit | None:
    """The line through these points; None for fewer than three sizes. `errors`: what the time of
    each size is known to, as a share of it; where given, what is known better counts more."""
    chosen = sorted((n, t) for n, t in points if n >= 0 and t > 0 and math.isfinite(t))
    if len({n for n, _ in chosen}) < LEAST_POINTS:
        return None
    line = _solved(chosen, _weights(chosen, relative, errors))
    residuals = [Residual(n, t, line.at(n), line.half_width(n)) for n, t in chosen]
    return Fit(
        alpha_s=_estimate(line.at(0), line.half_width(0)),
        beta_s_per_byte=_estimate(line.beta, line.half_width_of_beta),
        relative=relative,
        points=tuple(residuals),
    )


def misfits(sizes: _Array, times: _Array, errors: _Array, starts: _Places, ends: _Places) -> _Array:
    """Returns the misfit of a line through each stretch (P,) of points (N,), from `starts` up to
    but excluding `ends` (P,): the sum of squares of relative residuals divided by the errors. A
    stretch has two sizes or more, and times are above 0."""
    import numpy as np

    place = np.arange(len(sizes))
    inside = (starts[:, None] <= place) & (place < ends[:, None])
    weights = np.where(inside, (times * errors) ** -2.0, 0.0)
    whole = weights.sum(1)
    # From the middle of each stretch, so that no large numbers are subtracted from each other.
    x = sizes - (weights @ sizes / whole)[:, None]
    y = times - (weights @ times / whole)[:, None]
    beta = (weights * x * y).sum(1) / (weights * x * x).sum(1)
    left: _Array = (weights * (y - beta[:, None] * x) ** 2).sum(1)
    return left


def in_two_ranges(points: Sequence[Point]) -> tuple[Fit, Fit] | None:
    """The lines for small and for large messages, split where both together fit best."""
    ordered = sorted(points)
    best, least = None, math.inf
    for cut in range(_LEAST_IN_PART, len(ordered) - _LEAST_IN_PART + 1):
        small, large = fit(ordered[:cut]), fit(ordered[cut:])
        if small and large:
            misfit = _misfit(small) + _misfit(large)
            if best is None or misfit < least:
                best, least = (small, large), misfit
    return best


def points_of(rows: Iterable[Row]) -> list[Point]:
    """The printed times of rows of one benchmark."""
    points: list[Point] = []
    for row in rows:
        if row.message_bytes >= 0:
            points.append((row.message_bytes, row.latency.value))
    return points


def _weights(
    points: Sequence[Point], relative: bool, errors: Mapping[int, float] | None
) -> list[float]:
    """Returns the weights of residuals; equal errors have no effect."""
    if not relative:
        return [1.0] * len(points)
    if errors is None:
        return [1 / t for _, t in points]
    usual = math.sqrt(len(points) / sum(errors[n] ** -2 for n, _ in points))
    return [usual / (t * errors[n]) for n, t in points]


class _Line(NamedTuple):
    """The line of least squares, from the middle of its points: there place and slope do not
    depend on each other, and no large numbers are subtracted."""

    x: float
    """The weighted mean of the sizes."""
    y: float
    """The weighted mean of the times."""
    beta: float
    whole: float
    """Sum of the squares of the weights."""
    spread: float
    """Sum of the squares of the weighted distances of the sizes from their mean."""
    scatter: float
    """Half of a 95 % interval of what has weight 1."""

    def at(self, size: float) -> float:
        return self.y + self.beta * (size - self.x)

    def half_width(self, size: float) -> float:
        return self.scatter * math.sqrt(1 / self.whole + (size - self.x) ** 2 / self.spread)

    @property
    def half_width_of_beta(self) -> float:
        return self.scatter / math.sqrt(self.spread)


def _solved(points: Sequence[Point], by: Sequence[float]) -> _Line:
    """The line for which the sum of squares of weighted residuals is least. Sums are rounded once
    (fsum), and taken about the means, so that nothing is lost by subtraction."""
    squares = [weight * weight for weight in by]
    sizes, times = zip(*points, strict=True)
    whole = math.fsum(squares)
    x, y = _weighted_sum(squares, sizes) / whole, _weighted_sum(squares, times) / whole
    spread, product = [], []
    for w, (n, t) in zip(squares, points, strict=True):
        spread.append(w * (n - x) ** 2)
        product.append(w * (n - x) * (t - y))
    beta = math.fsum(product) / math.fsum(spread)
    left = []
    for w, (n, t) in zip(squares, points, strict=True):
        left.append(w * (t - y - beta * (n - x)) ** 2)
    freedom = len(points) - 2
    scatter = _quantile(freedom) * math.sqrt(math.fsum(left) / freedom)
    return _Line(x, y, beta, whole, math.fsum(spread), scatter)


def _weighted_sum(weights: Sequence[float], values: Sequence[float]) -> float:
    return math.fsum(w * value for w, value in zip(weights, values, strict=True))


@cache
def _quantile(freedom: int) -> float:
    return quantile(1 - _LEVEL, freedom)


def _estimate(value: float, half_width: float) -> Estimate:
    return Estimate(value, value - half_width, value + half_width)


def _misfit(line: Fit) -> float:
    return sum(point.relative**2 for point in line.points)
