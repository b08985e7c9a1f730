# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How often the interval of a row covers the truth, when one stops as soon as it is narrow.

A trial is a campaign without clock and MPI: launches of chunk medians that stop by the rule of the
kernels (six chunks or more, until their own interval is narrow), then launches one by one until
the row's interval is. The chunk medians are replayed from recorded traces of a quiet and a busy
machine, or drawn from processes that are autocorrelated, bimodal or drift. Seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL, hull
from mpigauge.result.stats.order import LOOKS, fixed_order

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.random import Generator
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Process = Callable[[Generator], Numbers]

TRIALS, LAUNCHES, CHUNKS = 300, 20, 30
SHAPE = (TRIALS, LAUNCHES, CHUNKS)


# --- the rules --------------------------------------------------------------------------------
def launches(chunks: Numbers, target: float) -> tuple[Numbers, Numbers, Numbers]:
    """Value and interval of each launch, which stops at the first interval that is narrow."""
    values, lows, highs = (np.full(chunks.shape[:2], np.nan) for _ in range(3))
    for n in range(6, chunks.shape[2] + 1):
        ordered = np.sort(chunks[:, :, :n], axis=2)
        k = fixed_order(n)
        low, high, value = ordered[..., k - 1], ordered[..., n - k], np.median(ordered, axis=2)
        narrow = np.maximum(high - value, value - low) <= target * value
        now = np.isnan(values) & (narrow | (n == chunks.shape[2]))
        values[now], lows[now], highs[now] = value[now], low[now], high[now]
    return values, lows, highs


def stopped(
    values: Numbers, lows: Numbers, highs: Numbers, precision: float
) -> tuple[float, float]:
    """The row's interval at the first look at which it is narrow enough."""
    for n in (look for look in LOOKS if look <= len(values)):
        low, high = hull(values[:n].tolist(), lows[:n].tolist(), highs[:n].tolist())
        value = float(np.median(values[:n]))
        if max(high - value, value - low) <= precision * value:
            break
    return low, high


def covered(process: Process, truth: float, precision: float) -> float:
    chunks = process(np.random.default_rng(20261121))
    measured = launches(chunks, max(precision / 2, 0.02))
    ends = [stopped(*each, precision) for each in zip(*measured, strict=True)]
    return sum(low <= truth <= high for low, high in ends) / len(ends)


# --- replayed traces ----------------------------------------------------------------------------
def replay(trace: Numbers, gap: int) -> Process:
    """Launches begin anywhere in the trace; other cells have their turns between two chunks."""

    def process(random: Generator) -> Numbers:
        starts = random.integers(len(trace), size=(*SHAPE[:2], 1))
        steps = random.integers(1, 2 * gap, size=SHAPE).cumsum(axis=2)
        replayed: Numbers = trace[(starts + steps) % len(trace)]
        return replayed

    return process


@pytest.mark.parametrize("precision", [0.05, 0.02])
@pytest.mark.parametrize(
    ("name", "gap"),
    [("quiet_8B", 5), ("quiet_8B", 100), ("busy_8B", 5), ("busy_8B", 100),
     ("quiet_1MiB", 2), ("quiet_1MiB", 15), ("busy_1MiB", 2), ("busy_1MiB", 15)],
)  # fmt: skip
def test_replayed_traces(repository: Path, name: str, gap: int, precision: float) -> None:
    with np.load(repository / "tests/data/chunk_medians.npz") as data:
        trace, truth = data[name].astype(float), float(data[f"{name}_truth"])
    assert covered(replay(trace, gap), truth, precision) >= 0.9


# --- synthetic processes --------------------------------------------------------------------------
def noisy(launch_sd: float, chunk_sd: float, memory: float) -> Process:
    """Launches differ, and chunks remember the one before."""

    def process(random: Generator) -> Numbers:
        noise = random.standard_normal(SHAPE)
        for i in range(1, CHUNKS):
            noise[..., i] = memory * noise[..., i - 1] + np.sqrt(1 - memory**2) * noise[..., i]
        base = 1 + launch_sd * random.standard_normal((*SHAPE[:2], 1))
        mixed: Numbers = base * (1 + chunk_sd * noise)
        return mixed

    return process


def bimodal(share: float, change: float) -> Process:
    """Two modes 40 % apart; a launch changes its mode between chunks with some probability."""

    def process(random: Generator) -> Numbers:
        fast = random.random(SHAPE) < share
        keep = random.random(SHAPE) >= change
        for i in range(1, CHUNKS):
            fast[..., i] = np.where(keep[..., i], fast[..., i - 1], fast[..., i])
        mixed: Numbers = np.where(fast, 1.0, 1.4) * (1 + 0.01 * random.standard_normal(SHAPE))
        return mixed

    return process


def truth_of_bimodal(share: float) -> float:
    from scipy.optimize import brentq
    from scipy.stats import norm

    def excess(x: float) -> float:
        both = share * norm.cdf(x, 1.0, 0.01) + (1 - share) * norm.cdf(x, 1.4, 0.014)
        return float(both) - 0.5

    return float(brentq(excess, 0.5, 2.0))


@pytest.mark.parametrize("precision", [0.05, 0.02])
@pytest.mark.parametrize(
    ("launch_sd", "chunk_sd", "memory"),
    [(0.02, 0.01, 0.0), (0.02, 0.05, 0.0), (0.0, 0.05, 0.0), (0.005, 0.1, 0.9), (0.05, 0.02, 0.5)],
)
def test_noisy_processes(
    launch_sd: float, chunk_sd: float, memory: float, precision: float
) -> None:
    assert covered(noisy(launch_sd, chunk_sd, memory), 1.0, precision) >= 0.9


@pytest.mark.parametrize("share", [0.4, 0.6, 0.8])
@pytest.mark.parametrize("change", [0.0, 0.3])
def test_bimodal_processes(share: float, change: float) -> None:
    assert covered(bimodal(share, change), truth_of_bimodal(share), 0.05) >= 0.9


@pytest.mark.parametrize("slope", [0.02, 0.2])
def test_drifting_processes(slope: float) -> None:
    """The truth is the median over the time that the campaign took."""
    chunks = noisy(0.0, 0.01, 0.0)(np.random.default_rng(7))
    chunks *= 1 + slope * np.arange(LAUNCHES)[:, None] / LAUNCHES
    hits = 0
    for values, lows, highs in zip(*launches(chunks, 0.025), strict=True):
        used = LAUNCHES if slope > 0.1 else LEAST_FOR_INTERVAL
        low, high = hull(values[:used].tolist(), lows[:used].tolist(), highs[:used].tolist())
        hits += low <= 1 + slope * (used - 1) / 2 / LAUNCHES <= high
    assert hits >= 0.9 * TRIALS
