# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Curves in pieces: breaks that are there are found, and others are not claimed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpigauge.result.stats.fit import misfits
from mpigauge.result.stats.launches import rows
from mpigauge.result.stats.pieces import KnownPoint, Pieces, drawn_on, in_pieces, known_points
from tests.planted import SIZES, curve, line

XEON_US = [
    0.47, 0.49, 0.50, 0.50, 0.49, 0.50, 0.50, 1.09, 1.00, 1.06, 1.12, 1.22, 1.59, 3.09, 4.19, 6.68,
    11.59, 16.60, 29.76, 53.95, 101.02, 195.92, 384.52, 754.63,
]  # fmt: skip
"""Half round trips of 0, 1, 2, 4 … 4194304 bytes between two sockets, Open MPI, of one user."""
OCI_US = [
    1.67, 1.67, 1.67, 1.71, 1.82, 1.88, 2.13, 2.21, 2.32, 3.03, 3.76, 4.87, 6.73, 9.22, 10.80,
    16.33, 28.72, 50.17, 92.96, 178.56, 349.84, 693.07, 1379.28,
]  # fmt: skip
"""Of 0, 8, 16 … 16777216 bytes between two nodes over RoCE."""


def known(times: list[float], sizes: list[int], error: float = 0.02) -> list[KnownPoint]:
    return [KnownPoint(n, t, error) for n, t in zip(sizes, times, strict=True)]


def breaks(found: Pieces | None) -> list[tuple[int, int]]:
    assert found is not None
    return [(at.before_bytes, at.after_bytes) for at in found.breaks]


def test_the_breaks_of_a_real_curve() -> None:
    """The header of a message, the limit of eager messages, and a long way round from 64 KiB on."""
    found = in_pieces(known([t * 1e-6 for t in XEON_US], SIZES))
    assert breaks(found) == [(32, 64), (2048, 4096), (32768, 65536)]
    assert found is not None
    assert [round(at.step, 2) for at in found.breaks] == [2.1, 1.49, 0.78]
    assert all(
        abs(found.fitted[n] * 1e6 / t - 1) < 0.08 for n, t in zip(SIZES, XEON_US, strict=True)
    )


def test_one_of_another_machine() -> None:
    sizes = [0, *(1 << i for i in range(3, 25))]
    found = in_pieces(known([t * 1e-6 for t in OCI_US], sizes))
    assert (32768, 65536) in breaks(found)


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-7, 1e-4), st.floats(1e-12, 1e-8))
def test_a_line_has_no_break(alpha: float, beta: float) -> None:
    """Also round n½, where it bends in log-log and nothing happens."""
    assert breaks(in_pieces(known([alpha + beta * n for n in SIZES], SIZES))) == []


@pytest.mark.parametrize("scatter", [0.01, 0.05, 0.15])
def test_noise_has_no_break(scatter: float) -> None:
    """Whatever the scatter, known to be so or not: at most 3 of 60 curves show one."""
    random = np.random.default_rng(3)
    claimed = 0
    for i in range(60):
        times = [
            (1e-6 + 1e-10 * n) * float(np.exp(scatter * random.standard_normal())) for n in SIZES
        ]
        claimed += bool(breaks(in_pieces(known(times, SIZES, scatter if i % 2 else 0.02))))
    assert claimed <= 3


@pytest.mark.parametrize("at", [256, 4096, 65536])
def test_a_step_is_found_where_it_is(at: int) -> None:
    """A time that is half as long again from one size on, in 3 % of noise: 19 of 20 curves."""
    random = np.random.default_rng(at)
    right = 0
    for _ in range(20):
        times = [
            (1e-6 + 1e-10 * n) * (1.5 if n > at else 1) * (1 + 0.03 * random.standard_normal())
            for n in SIZES
        ]
        right += (at, 2 * at) in breaks(in_pieces(known(times, SIZES)))
    assert right >= 19


def test_errors_that_are_larger_than_a_step_carry_none() -> None:
    times = [(1e-6 + 1e-10 * n) * (1.3 if n > 4096 else 1) for n in SIZES]
    assert breaks(in_pieces(known(times, SIZES))) == [(4096, 8192)]
    assert breaks(in_pieces(known(times, SIZES, 0.3))) == []


def test_a_curve_has_up_to_six_pieces() -> None:
    """Of four sizes each, which take three times as long as the piece before."""
    times = [1e-6 * 3 ** (place // 4) for place in range(len(SIZES))]
    ends = [(SIZES[place - 1], SIZES[place]) for place in range(4, len(SIZES), 4)]
    assert breaks(in_pieces(known(times, SIZES))) == ends
    assert len(ends) == 5


def test_one_odd_size_is_no_piece() -> None:
    times = [(1e-6 + 1e-10 * n) * (3 if n == 1024 else 1) for n in SIZES]
    found = in_pieces(known(times, SIZES))
    assert found is not None
    assert all(len(each.points) >= 3 for each in found.lines)


def test_two_sizes_are_no_curve() -> None:
    assert in_pieces([KnownPoint(0, 1e-6, 0.02), KnownPoint(8, 1e-6, 0.02)]) is None
    assert in_pieces([]) is None


def test_a_line_that_falls_is_not_drawn_on_downwards() -> None:
    """A few noisy sizes may seem to get shorter."""
    found = in_pieces(known([1.2e-6, 1.1e-6, 1e-6], [0, 512, 1024]))
    assert found is not None
    assert drawn_on(found.lines[0], 1 << 20) == pytest.approx(1e-6)


def test_points_know_their_errors() -> None:
    measured = rows(curve(line(), sizes=[8, 16], ci_low_s=float("nan"), ci_high_s=float("nan")))
    ours = known_points(measured)
    assert [point.message_bytes for point in ours] == [8, 16]
    assert ours[0].time_s == pytest.approx(measured[0].latency.value)
    assert all(point.error >= 0.02 for point in ours)
    alone = rows(curve(line(), sizes=[8], launches=1, ci_low_s=1e-6, ci_high_s=4e-6))
    assert known_points(alone)[0].error == pytest.approx(alone[0].relative_error / 1.96)


@pytest.mark.parametrize("times", [XEON_US, [1.0 + 3e-4 * n for n in SIZES]])
def test_stretches_fit_as_one_by_one(times: list[float]) -> None:
    """All at once as by least squares of each alone."""
    sizes, t = np.array(SIZES, dtype=float), np.array(times) * 1e-6
    errors = np.linspace(0.02, 0.2, len(t))
    starts, ends = np.triu_indices(len(t) + 1, 3)
    found = misfits(sizes, t, errors, starts, ends)
    for start, end, squares in zip(starts, ends, found, strict=True):
        by = 1 / (t * errors)[start:end]
        design = np.column_stack([by, by * sizes[start:end] / sizes[end - 1]])
        alone, *_ = np.linalg.lstsq(design, by * t[start:end], rcond=None)
        left = by * t[start:end] - design @ alone
        assert squares == pytest.approx(left @ left, rel=1e-9, abs=1e-12)


def test_a_slope_of_a_few_noisy_short_messages_is_not_trusted() -> None:
    """64 B took long by chance: drawn on, the line of the first three would suggest 2 µs for
    512 B, and the time would have seemed to fall."""
    sizes = [0, 8, 64, 512, 4096, 32768, 262144]
    times = [0.875e-6, 0.896e-6, 1.10e-6, 1.33e-6, 1.70e-6, 4.25e-6, 24.1e-6]
    errors = [0.02, 0.02, 0.08, 0.04, 0.02, 0.02, 0.02]
    points = [KnownPoint(*each) for each in zip(sizes, times, errors, strict=True)]
    assert breaks(in_pieces(points)) == []
