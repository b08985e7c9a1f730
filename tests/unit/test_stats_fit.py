# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.result.stats.fit import fit, in_two_ranges

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
