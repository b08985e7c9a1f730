# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Student's t distribution: the probability of its tails, and its quantiles.

The probability that |T| exceeds t with ν degrees of freedom is the regularised incomplete beta
function I_x(ν/2, 1/2) at x = ν / (ν + t²) (M. Abramowitz, I. A. Stegun, Handbook of Mathematical
Functions, 26.7.1 and 26.5.27), which is computed from its continued fraction (26.5.8). Degrees of
freedom need not be whole. The relative error is below 1e-9
(tests/unit/result/stats/test_stats_student.py).
"""

from __future__ import annotations

import math
from functools import lru_cache

_CONVERGED = 1e-15
_MOST_TERMS = 100_000
_MOST_STEPS = 200
_TINY = 1e-300
"""Stands for a denominator of zero in the continued fraction."""
_ASYMPTOTIC = 50.0


def two_sided(t: float, freedom: float) -> float:
    """The probability that |T| is larger than |t|. ValueError where `freedom` is not positive."""
    if not freedom > 0:
        raise ValueError(f"degrees of freedom are {freedom}, not positive")
    if math.isnan(t):
        return math.nan
    square = t * t
    if math.isinf(square):
        return 0.0
    return _incomplete_beta(freedom / (freedom + square), square / (freedom + square), freedom / 2)


@lru_cache(maxsize=1024)
def quantile(miss: float, freedom: float) -> float:
    """The t that |T| exceeds with the probability `miss`, which lies between 0 and 1.

    Newton's steps on the logarithm of the probability, kept between ends that enclose the value.
    ValueError where `miss` is not a probability between 0 and 1 or `freedom` is not positive.
    """
    if not 0 < miss < 1:
        raise ValueError(f"{miss} is not a probability between 0 and 1")
    low, high = 0.0, 2.0
    while two_sided(high, freedom) > miss:
        low, high = high, 2 * high
    t = (low + high) / 2
    for _ in range(_MOST_STEPS):
        above = two_sided(t, freedom)
        if above > miss:
            low = t
        else:
            high = t
        following = _newton(t, above, miss, freedom)
        if not low < following < high:
            following = (low + high) / 2
        if abs(following - t) <= _CONVERGED * following:
            return following
        t = following
    return t


def _newton(t: float, above: float, miss: float, freedom: float) -> float:
    """Returns the t at which the tangent of log P(|T| > t) reaches log `miss`."""
    if above == 0:
        return math.inf
    return t + above * math.log(above / miss) / (2 * _density(t, freedom))


def _density(t: float, freedom: float) -> float:
    """The density of T at t (Abramowitz and Stegun, 26.7.1, differentiated)."""
    scale = _gamma_ratio(freedom / 2) / math.sqrt(freedom * math.pi)
    return scale * math.exp(-(freedom + 1) / 2 * math.log1p(t * t / freedom))


def _incomplete_beta(x: float, rest: float, a: float) -> float:
    """I_x(a, 1/2), where `rest` is 1 - x without the rounding of that difference."""
    if x <= 0 or rest <= 0:
        if x <= 0:
            return 0.0
        return 1.0
    b = 0.5
    beta = math.sqrt(math.pi) / _gamma_ratio(a)
    front = math.exp(a * _log(x, rest) + b * math.log(rest)) / beta
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(rest, b, a) / b


def _log(x: float, rest: float) -> float:
    """Logarithm of x, exact also where x is close to 1."""
    if rest < 0.5:
        return math.log1p(-rest)
    return math.log(x)


def _gamma_ratio(a: float) -> float:
    """Γ(a + 1/2) / Γ(a); by its series for large a (Abramowitz and Stegun, 6.1.47), where the
    difference of two logarithms would lose digits."""
    if a < _ASYMPTOTIC:
        return math.exp(math.lgamma(a + 0.5) - math.lgamma(a))
    z = 1 / a
    terms = (1.0, -1 / 8, 1 / 128, 5 / 1024, -21 / 32768, -399 / 262144)
    series = math.fsum(term * z**power for power, term in enumerate(terms))
    return math.sqrt(a) * series


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of I_x(a, b), evaluated from its front (W. J. Lentz, Applied Optics
    15 (1976) 668)."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / _not_zero(1 + term * d)
            c = _not_zero(1 + term / c)
            value *= c * d
        if abs(c * d - 1) < _CONVERGED:
            break
    return value


def _not_zero(value: float) -> float:
    if abs(value) > _TINY:
        return value
    return _TINY
