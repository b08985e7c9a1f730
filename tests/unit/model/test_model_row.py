# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

import math

import pytest

from mpigauge.model.row import Estimate
from mpigauge.result.stats.launches import aggregate
from tests import cells


def test_slow_end_of_the_time_is_the_low_end_of_the_bandwidth() -> None:
    cell = cells.cell(
        time_p50_s=2e-6, ci_low_s=1.6e-6, ci_high_s=2.5e-6, moved_bytes=1000, messages=1
    )
    row = aggregate([cell])
    assert row.latency == pytest.approx((1e-6, 0.8e-6, 1.25e-6))
    assert row.bandwidth == pytest.approx((1e9, 0.8e9, 1.25e9))
    assert row.rate == pytest.approx((1e6, 0.8e6, 1.25e6))


def test_a_benchmark_without_bytes_has_no_bandwidth() -> None:
    row = aggregate([cells.cell("Barrier")])
    assert row.bandwidth is None
    assert row.rate is None


def test_error_is_the_farther_end() -> None:
    assert Estimate(10, 9, 12).relative_error == pytest.approx(0.2)
    assert math.isnan(Estimate(0, 0, 0).relative_error)
    assert math.isnan(Estimate(1, math.nan, math.nan).relative_error)


def test_the_stop_of_a_row_is_that_of_most_launches() -> None:
    stops = ("time", "precise", "precise")
    row = aggregate([cells.cell(launch=i, stop=stop) for i, stop in enumerate(stops)])
    assert row.stop == "precise"
    assert row.stops == stops
