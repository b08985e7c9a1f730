# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Recomputes the numbers of a cell from its stored samples, to check the kernel's output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.columns import COLUMNS
from mpigauge.result.stats.order import fixed_order, median_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from mpigauge.model.record import Raw

_LEAST_CLEAN = 6
_LEAST_CLEAN_SHARE = 0.25
QUANTILES = {c.name: c.quantile for c in COLUMNS if c.quantile is not None}
"""Columns that are quantiles of all samples, and which."""


def recompute(
    raw: Raw, ticks: NDArray[np.uint32], calls: int, step_s: float = 0.0
) -> dict[str, float]:
    """The times of a cell, by their columns; `ticks` has the rows slowest, fastest and mean rank.

    No interval is narrower than the step of the clock, which is in the record of the launch.
    """
    import numpy as np

    seconds = ticks.astype(np.float64) / (calls * raw.hz)
    slowest, fastest, mean = seconds
    medians = chunk_medians(raw, slowest)
    value = float(np.median(medians))
    low, high = median_interval(medians, fixed_order(len(medians)))
    quantiles = map(float, np.quantile(slowest, list(QUANTILES.values())))
    return {
        "time_p50_s": value,
        "ci_low_s": low - step_s / calls / 2,
        "ci_high_s": high + step_s / calls / 2,
        "time_min_s": float(np.median(chunk_medians(raw, fastest))),
        "time_avg_s": float(np.median(chunk_medians(raw, mean))),
        "time_max_s": value,
        "time_mean_s": float(slowest.mean()),
        **dict(zip(QUANTILES, quantiles, strict=True)),
    }


def chunk_medians(raw: Raw, samples: NDArray[np.float64]) -> list[float]:
    """The medians of the chunks that nothing disturbed, where these are enough, else of all."""
    import numpy as np

    ends = np.cumsum([chunk.n for chunk in raw.chunks])
    medians = [float(np.median(part)) for part in np.split(samples, ends[:-1])]
    clean = []
    for m, chunk in zip(medians, raw.chunks, strict=True):
        if chunk.taint == 0:
            clean.append(m)
    if _enough(clean, medians):
        return clean
    return medians


def _enough(clean: Sequence[float], medians: Sequence[float]) -> bool:
    return len(clean) >= _LEAST_CLEAN and len(clean) >= _LEAST_CLEAN_SHARE * len(medians)
