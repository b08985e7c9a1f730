# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Who comes late to a collective, and by how much, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpigauge.model.units import duration, percent
from mpigauge.runs.store.arrivals import ArrivalPattern

MORE_OFTEN = 1.5
"""Times its share if ranks were last in turn: a rank that is last more often is named."""


@dataclass(frozen=True)
class Last:
    """The rank that comes last most often."""

    rank: int
    """Of MPI_COMM_WORLD."""
    share: float
    """Of the calls."""
    is_mostly_it: bool
    """Whether it is last more often than ranks are that take turns."""
    median_s: float
    """How long after the first the last one comes, in the calls in which it is this rank."""
    late_s: float
    """In 9 of 10 of them it was no longer."""
    any_median_s: float
    """The same in all calls, whoever was last."""
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
