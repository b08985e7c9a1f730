# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The 99th percentiles of resampled visits, against NumPy's of the samples written out."""

from __future__ import annotations

import numpy as np
import pytest

from mpigauge.result.fabric import impact
from mpigauge.result.fabric.impact import TAIL, resampled_tails


@pytest.mark.parametrize("batch", [1, 1 << 20])
@pytest.mark.parametrize("most", [1, 7, 300])
def test_tails_are_those_of_the_samples_written_out(
    most: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Visits have different numbers of samples, and some of these are equal."""
    monkeypatch.setattr(impact, "_BATCH", batch)
    random = np.random.default_rng(most)
    visits = [random.integers(1, 50, random.integers(1, most + 1)) / 8 for _ in range(12)]
    times = random.multinomial(len(visits), [1 / len(visits)] * len(visits), size=20)
    written_out = [
        np.concatenate([np.tile(visit, count) for visit, count in zip(visits, row, strict=True)])
        for row in times
    ]
    expected = [np.quantile(samples, TAIL) for samples in written_out]
    assert resampled_tails(visits, times).tolist() == pytest.approx(expected, rel=1e-12)
