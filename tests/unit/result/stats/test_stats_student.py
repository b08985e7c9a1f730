# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Student's t against tables in print and against scipy."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from mpigauge.result.stats.student import quantile, two_sided

FREEDOMS = (0.5, 1, 1.3, 2, 3.7, 5, 10, 29.5, 99, 100, 101, 1e3, 1e5, 1e7)
MISSES = (0.999, 0.9, 0.5, 0.3173, 0.1, 0.05, 0.01, 1e-3, 1e-6, 1e-12)


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [(1, 12.7062047362), (5, 2.5705818356), (10, 2.2281388520), (30, 2.0422724563)],
)
def test_quantiles_are_those_of_printed_tables(freedom: float, expected: float) -> None:
    assert quantile(0.05, freedom) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_tails_are_those_of_scipy(freedom: float) -> None:
    for t in (0.0, 0.01, 0.5, 1.0, 1.96, 3.0, 8.0, 30.0, 1e3):
        expected = 2 * float(stats.t.sf(t, freedom))
        assert two_sided(t, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-290)
        assert two_sided(-t, freedom) == two_sided(t, freedom)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_quantiles_are_those_of_scipy(freedom: float) -> None:
    for miss in MISSES:
        expected = float(stats.t.isf(miss / 2, freedom))
        assert quantile(miss, freedom) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("freedom", FREEDOMS)
def test_the_tail_beyond_a_quantile_is_what_it_was_asked_for(freedom: float) -> None:
    for miss in MISSES:
        assert two_sided(quantile(miss, freedom), freedom) == pytest.approx(miss, rel=1e-9)


@pytest.mark.parametrize("t", [1e-8, 0.3, 1, 1e6])
def test_one_degree_of_freedom_is_the_cauchy_distribution(t: float) -> None:
    assert two_sided(t, 1) == pytest.approx(1 - 2 * math.atan(t) / math.pi, abs=1e-15)


def test_ends_of_the_line() -> None:
    assert two_sided(math.inf, 5) == 0
    assert two_sided(0, 5) == 1
    assert math.isnan(two_sided(math.nan, 5))


@pytest.mark.parametrize("freedom", [0, -1, math.nan])
def test_degrees_of_freedom_are_positive(freedom: float) -> None:
    with pytest.raises(ValueError, match="not positive"):
        two_sided(1, freedom)


@pytest.mark.parametrize("miss", [0, 1, -0.1, math.nan])
def test_a_probability_lies_between_its_ends(miss: float) -> None:
    with pytest.raises(ValueError, match="probability"):
        quantile(miss, 5)
