# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mpigauge.model import units


@pytest.mark.parametrize(
    ("seconds", "error", "text"),
    [
        (0.56e-6, 0.01e-6, "0.560"),
        (48.31e-6, 2e-6, "48.3"),
        (348.1234e-6, 0.01e-6, "348.12"),
        (1.5, 0, "1500000"),
        (1e-9, 0, "0.00100"),
        (0.0, 0, "0.00"),
        (math.nan, 0, "–"),
    ],
)
def test_microseconds(seconds: float, error: float, text: str) -> None:
    assert units.microseconds(seconds, error) == text


def test_things_are_counted() -> None:
    counted = [units.many(n, thing) for n in (1, 2) for thing in ("core", "launch", "address")]
    assert counted == ["1 core", "1 launch", "1 address", "2 cores", "2 launches", "2 addresses"]


@given(st.floats(1e-12, 1e9), st.floats(1e-6, 1.0))
def test_never_rounds_off_more_than_the_error(value: float, share: float) -> None:
    error = value * share
    assume(error > value * 1e-5)
    assert abs(float(units.number(value, error)) - value) <= error


@given(st.floats(1e-12, 1e9))
def test_keeps_three_digits(value: float) -> None:
    assert float(units.number(value)) == pytest.approx(value, rel=0.005)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (-1, ""),
        (0, "0 B"),
        (1000, "1000 B"),
        (1024, "1 KiB"),
        (4 << 20, "4 MiB"),
        (3 << 30, "3 GiB"),
    ],
)
def test_byte_counts_tell_the_whole_truth(count: int, text: str) -> None:
    assert units.byte_count(count) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.0, "±<0.1 %"),
        (0.0123, "±1.2 %"),
        (0.0996, "±10 %"),
        (1.0, "±100 %"),
        (9.99, "±>100 %"),
        (10.0, "± unknown"),
        (74.86, "± unknown"),
        (math.nan, "±?"),
    ],
)
def test_plus_minus(ratio: float, text: str) -> None:
    assert units.plus_minus(ratio) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-0.031, 0.082, "-3.1…+8.2 %"),
        (-0.5, 9.99, "-50…+999 %"),
        (-0.5, 10.0, "± unknown"),
        (-0.01, 106117.0, "± unknown"),
        (math.nan, 0.1, "–"),
    ],
)
def test_ranges(low: float, high: float, text: str) -> None:
    assert units.from_to(low, high) == text


def test_other_numbers() -> None:
    assert units.megabytes_per_s(11.8e9) == "11800"
    assert units.rate(8.465e6) == "8.46 M/s"
    assert units.rate(12.0) == "12.0 /s"
    assert units.rate(math.nan) == "–"
    assert units.duration(0.2) == "200 ms"
    assert units.duration(0.0) == "0.00 ns"
    assert units.memory(3.1 * 2**30) == "3.1 GiB"
    assert units.memory(12) == "12 B"
