# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.model.record import Chunk, Raw
from mpigauge.result.stats.recompute import recompute

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNKS = st.lists(st.lists(st.integers(10, 1 << 31), min_size=1, max_size=9), min_size=1)


def stored(
    chunks: list[list[int]], taints: list[int] | None = None
) -> tuple[Raw, NDArray[np.uint32]]:
    taints = taints or [0] * len(chunks)
    of = (Chunk(i, t, len(c)) for i, (c, t) in enumerate(zip(chunks, taints, strict=True), 1))
    slowest = np.array([tick for chunk in chunks for tick in chunk], dtype=np.uint32)
    return Raw(hz=1e9, chunks=tuple(of)), np.stack([slowest, slowest - 2, slowest - 1])


@given(CHUNKS)
def test_value_is_the_median_of_chunk_medians(chunks: list[list[int]]) -> None:
    times = recompute(*stored(chunks), calls=1)
    assert times["time_p50_s"] == pytest.approx(median(median(c) for c in chunks) * 1e-9)
    assert times["ci_low_s"] <= times["time_p50_s"] <= times["ci_high_s"]
    assert (
        times["time_best_s"] <= times["time_p01_s"] <= times["time_p99_s"] <= times["time_worst_s"]
    )


def test_batched_calls_share_a_sample() -> None:
    chunks = [[100, 200, 300]] * 6
    assert recompute(*stored(chunks), calls=4)["time_p50_s"] == pytest.approx(50e-9)


def test_disturbed_chunks_are_left_out_where_enough_others_remain() -> None:
    chunks = [[100]] * 6 + [[900]] * 18
    clean = recompute(*stored(chunks, [0] * 6 + [1] * 18), calls=1)
    assert clean["time_p50_s"] == pytest.approx(100e-9)
    assert clean["time_mean_s"] == pytest.approx(700e-9)  # of all, as IMB counts
    many = recompute(*stored([*chunks, [900]], [0] * 6 + [1] * 19), calls=1)
    assert many["time_p50_s"] == pytest.approx(900e-9)


def test_ranks_are_told_apart() -> None:
    times = recompute(*stored([[100, 102, 104]] * 6), calls=1)
    in_order = (times["time_min_s"], times["time_avg_s"], times["time_max_s"])
    assert in_order == pytest.approx((100e-9, 101e-9, 102e-9))


@given(CHUNKS, st.integers(0, 1 << 30))
def test_columns_of_the_same_samples_are_in_order(chunks: list[list[int]], marks: int) -> None:
    taints = [marks >> (i % 30) & 1 for i in range(len(chunks))]
    times = recompute(*stored(chunks, taints), calls=1)
    assert times["time_min_s"] <= times["time_avg_s"] <= times["time_max_s"] == times["time_p50_s"]
    assert times["time_best_s"] <= times["time_p01_s"] <= times["time_p50_s"]
    assert times["time_p50_s"] <= times["time_p99_s"] <= times["time_worst_s"]


def test_interval_is_that_of_order_statistics() -> None:
    times = recompute(*stored([[i] for i in range(10, 19)]), calls=1)
    assert (times["ci_low_s"], times["ci_high_s"]) == pytest.approx((11e-9, 17e-9))


def test_no_interval_is_narrower_than_the_step_of_the_clock() -> None:
    times = recompute(*stored([[100]] * 6), calls=2, step_s=10e-9)
    assert times["ci_high_s"] - times["ci_low_s"] == pytest.approx(5e-9)
