# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Describes which rank arrives last at a collective, and how late."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpigauge.model.units import duration, percent
from mpigauge.runs.store.arrivals import ArrivalPattern

MORE_OFTEN = 1.5
"""The factor over an equal share of being last, above which a rank is named."""


@dataclass(frozen=True)
class Last:
    """The rank that arrives last most often."""

    rank: int
    """The rank in MPI_COMM_WORLD."""
    share: float
    """The share of calls in which this rank is last."""
    is_mostly_it: bool
    """True if this rank is last clearly more often than an equal share."""
    median_s: float
    """The median delay after the first rank, in seconds, in calls in which this rank is last."""
    late_s: float
    """The 90th percentile of this delay."""
    any_median_s: float
    """The median delay of the last rank in all calls, in seconds."""
    any_late_s: float

    @property
    def words(self) -> str:
        if not self.is_mostly_it:
            return (
                "No rank comes last far more often than others; the last one comes "
                f"{_after(self.any_median_s, self.any_late_s)}."
            )
        return (
            f"Rank {self.rank} comes last in {percent(self.share)} of the calls, "
            f"{_after(self.median_s, self.late_s)}."
        )


def last_of(pattern: ArrivalPattern) -> Last:
    who = pattern.lateness_s.argmax(axis=1)
    counts = np.bincount(who, minlength=pattern.ranks)
    most = int(counts.argmax())
    share = float(counts[most]) / len(who)
    after = pattern.lateness_s.max(axis=1)
    own = after[who == most]
    return Last(
        rank=pattern.members[most],
        share=share,
        is_mostly_it=share > min(MORE_OFTEN / pattern.ranks, 0.9),
        median_s=float(np.median(own)),
        late_s=float(np.quantile(own, 0.9)),
        any_median_s=float(np.median(after)),
        any_late_s=float(np.quantile(after, 0.9)),
    )


def _after(median_s: float, late_s: float) -> str:
    median, late = duration(median_s), duration(late_s)
    return f"{median} after the first in the median, 9 of 10 times within {late}"
