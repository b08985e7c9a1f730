# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mpigauge.model.row import Estimate
from mpigauge.result.stats.fit import Fit, fit, in_two_ranges, misfits

# Published ping_pong tables: times in µs for 1000, 2000, … 10000 bytes. (The lines printed above
# them are not the least squares lines of these points; they were fitted to others.)
TABLES = [
    [0.78, 0.87, 0.96, 1.09, 1.28, 1.39, 1.51, 1.61, 1.78, 2.01],
    [8.07, 7.96, 8.18, 8.68, 9.21, 9.47, 9.81, 10.29, 10.74, 11.11],
    [6.30, 8.78, 9.52, 12.12, 15.18, 16.09, 19.01, 20.32, 22.58, 25.24],
]
SIZES = [0, *(1 << i for i in range(23))]


@pytest.mark.parametrize("times", TABLES)
def test_absolute_residuals_are_the_usual_least_squares(times: list[float]) -> None:
    import numpy as np

    sizes = [1000 * i for i in range(1, 11)]
    slope, start = np.polyfit(sizes, times, 1)
    line = fit([(n, t * 1e-6) for n, t in zip(sizes, times, strict=True)], relative=False)
    assert line is not None
    assert line.alpha_s.value * 1e6 == pytest.approx(start)
    assert line.beta_s_per_byte.value * 1e6 == pytest.approx(slope)
    assert [point.fitted_s * 1e6 for point in line.points] == pytest.approx(
        [start + slope * n for n in sizes]
    )


@given(st.floats(1e-7, 1e-4), st.floats(1e-11, 1e-8), st.booleans())
def test_a_line_is_found_again(alpha: float, beta: float, relative: bool) -> None:
    line = fit([(n, alpha + beta * n) for n in SIZES], relative)
    assert line is not None
    assert line.alpha_s.value == pytest.approx(alpha, rel=1e-3, abs=1e-10)
    assert line.beta_s_per_byte.value == pytest.approx(beta, rel=1e-6)
    assert all(abs(point.relative) < 0.01 for point in line.points)


def test_half_of_the_bandwidth_is_reached_at_alpha_by_beta() -> None:
    line = fit([(n, 1e-6 + 1e-10 * n) for n in SIZES])
    assert line is not None
    assert line.half_bandwidth_bytes.value == pytest.approx(10_000)


def test_small_messages_decide_alpha_only_with_relative_residuals() -> None:
    """A tenth more at the largest size hides 0.5 µs from an absolute fit."""
    points = [(n, 5e-7 + 1e-10 * n) for n in SIZES[:-1]] + [(SIZES[-1], 5e-4)]
    relative, absolute = fit(points), fit(points, relative=False)
    assert relative is not None
    assert absolute is not None
    assert relative.alpha_s.value == pytest.approx(5e-7, rel=0.05)
    assert abs(absolute.alpha_s.value / 5e-7 - 1) > 1


def test_intervals_of_alpha_and_beta_cover_the_truth() -> None:
    import numpy as np

    random = np.random.default_rng(1)
    hits = 0
    for _ in range(300):
        noise = 1 + 0.02 * random.standard_normal(len(SIZES))
        line = fit([(n, (1e-6 + 1e-10 * n) * e) for n, e in zip(SIZES, noise, strict=True)])
        assert line is not None
        hits += line.alpha_s.low <= 1e-6 <= line.alpha_s.high
    assert 0.91 <= hits / 300 <= 0.99


@pytest.mark.parametrize("points", [[], [(0, 1e-6)], [(0, 1e-6), (8, 1e-6)], [(8, 1e-6)] * 5])
def test_fewer_than_three_sizes_give_no_line(points: list[tuple[int, float]]) -> None:
    assert fit(points) is None


def test_a_fall_gives_no_half_bandwidth() -> None:
    line = fit([(0, 3e-6), (1, 2e-6), (2, 1e-6)])
    assert line is not None
    assert math.isnan(line.half_bandwidth_bytes.value)


def test_two_lines_part_where_the_protocol_changes() -> None:
    points = [(n, 1e-6 + 1e-10 * n if n <= 8192 else 5e-6 + 5e-11 * n) for n in SIZES]
    both = in_two_ranges(points)
    assert both is not None
    small, large = both
    assert (small.last_bytes, large.first_bytes) == (8192, 16384)
    assert large.alpha_s.value == pytest.approx(5e-6)
    assert large.worst.relative == pytest.approx(0, abs=1e-6)


def test_too_few_sizes_for_two_lines() -> None:
    assert in_two_ranges([(n, 1e-6) for n in range(7)]) is None


# --- errors of a line, by other ways to compute them ----------------------------------------------
def test_the_intervals_of_a_line_are_those_of_linear_regression() -> None:
    """Of slope and start by scipy, of a fitted time by the formula of textbooks."""
    sizes = [1000.0 * i for i in range(1, 11)]
    line = fit([(int(n), t) for n, t in zip(sizes, TABLES[0], strict=True)], relative=False)
    assert line is not None
    known = stats.linregress(sizes, TABLES[0])
    t = float(stats.t.ppf(0.975, 8))
    assert line.beta_s_per_byte == pytest.approx(
        (known.slope, known.slope - t * known.stderr, known.slope + t * known.stderr)
    )
    start, error = known.intercept, t * known.intercept_stderr
    assert line.alpha_s == pytest.approx((start, start - error, start + error))
    assert line.at(0) == pytest.approx(start)
    left = [time - start - known.slope * n for n, time in zip(sizes, TABLES[0], strict=True)]
    scatter = math.sqrt(sum(each * each for each in left) / 8)
    spread = sum((n - 5500) ** 2 for n in sizes)
    for n, time, point in zip(sizes, TABLES[0], line.points, strict=True):
        expected = t * scatter * math.sqrt(1 / 10 + (n - 5500) ** 2 / spread)
        assert point.error_s == pytest.approx(expected)
        assert (point.message_bytes, point.observed_s) == (n, time)
        assert point.relative == pytest.approx(line.at(int(n)) / time - 1)
    assert abs(line.worst.relative) == max(abs(point.relative) for point in line.points)
    assert (line.first_bytes, line.last_bytes) == (1000, 10000)


def test_sizes_that_are_known_better_count_more() -> None:
    """By polyfit, whose weights are of residuals, not of their squares."""
    import numpy as np

    sizes, times = [8, 64, 512, 4096, 8192], [1.0, 1.1, 1.5, 2.0, 4.0]
    errors = dict(zip(sizes, (0.01, 0.02, 0.3, 0.04, 0.05), strict=True))
    line = fit(list(zip(sizes, times, strict=True)), errors=errors)
    weights = [1 / (t * errors[n]) for n, t in zip(sizes, times, strict=True)]
    slope, start = np.polyfit(sizes, times, 1, w=weights)
    assert line is not None
    assert line.beta_s_per_byte.value == pytest.approx(slope)
    assert line.alpha_s.value == pytest.approx(start)
    alike = fit(list(zip(sizes, times, strict=True)), errors=dict.fromkeys(sizes, 0.2))
    bare = fit(list(zip(sizes, times, strict=True)))
    assert alike is not None
    assert bare is not None
    assert alike.alpha_s == pytest.approx(bare.alpha_s)
    assert bare.alpha_s.value == pytest.approx(
        np.polyfit(sizes, times, 1, w=[1 / t for t in times])[1]
    )


def test_points_that_are_no_times_count_nothing() -> None:
    points = [(0, 1.0), (8, 1.5), (16, 2.5)]
    more = [(-1, 9.0), (32, 0.0), (64, math.nan), (128, math.inf), (256, -1.0)]
    assert fit([*more, *points[::-1]]) == fit(points)


def test_the_range_of_half_the_bandwidth_has_both_errors() -> None:
    """Of α by 0.3 and of β by 0.4 it is known to a half; a start below 0 has none."""
    line = Fit(Estimate(2.0, 1.4, 2.6), Estimate(0.5, 0.3, 0.7), relative=True, points=())
    assert line.half_bandwidth_bytes == pytest.approx((4.0, 2.0, 6.0))
    assert line.bandwidth == pytest.approx((2.0, 1 / 0.7, 1 / 0.3))
    wide = replace(line, alpha_s=Estimate(2.0, -1.0, 5.0))
    assert wide.half_bandwidth_bytes.low == 0
    for other in (replace(line, alpha_s=Estimate(0.0, -1.0, 1.0)),
                  replace(line, beta_s_per_byte=Estimate(0.0, -1.0, 1.0))):  # fmt: skip
        assert math.isnan(other.half_bandwidth_bytes.value)


def test_eight_sizes_are_enough_for_two_lines_of_four() -> None:
    points = [(n, 1.0 + n) for n in (1, 2, 3, 4)] + [(n, 9.0 + 0.5 * n) for n in (5, 6, 7, 8)]
    both = in_two_ranges(points[::-1])
    assert both is not None
    assert [(line.first_bytes, line.last_bytes) for line in both] == [(1, 4), (5, 8)]


def test_misfits_of_stretches_are_those_of_their_lines() -> None:
    """Sums of squares of relative residuals by the errors."""
    import numpy as np

    sizes, times = [8, 64, 512, 4096, 8192, 9000], [1.0, 1.1, 1.5, 2.0, 4.0, 4.5]
    errors = [0.01, 0.02, 0.3, 0.04, 0.05, 0.02]
    starts, ends = [0, 1, 3], [6, 5, 6]
    found = misfits(*map(np.array, (sizes, times, errors, starts, ends)))
    for start, end, misfit in zip(starts, ends, found, strict=True):
        own = slice(start, end)
        weights = [1 / (t * e) for t, e in zip(times[own], errors[own], strict=True)]
        line = np.polyfit(sizes[own], times[own], 1, w=weights)
        left = (np.array(times[own]) - np.polyval(line, sizes[own])) * weights
        assert misfit == pytest.approx(float((left**2).sum()))
