# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What launches of a program have in common, of one number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.result.stats.figures import estimate

if TYPE_CHECKING:
    from mpigauge.features.profile.account import Account
    from mpigauge.features.profile.merge import Spot
    from mpigauge.model.row import Estimate


@dataclass(frozen=True)
class OverLaunches:
    """A number of each launch: its median, and with what certainty that is known."""

    values: Sequence[float]

    @classmethod
    def of_run_s(cls, accounts: Iterable[Account]) -> OverLaunches:
        """The run time in seconds, in the mean of ranks."""
        return cls([float(each.run_s.mean()) for each in accounts])

    @classmethod
    def of_mpi_share(cls, accounts: Iterable[Account]) -> OverLaunches:
        """The share of MPI in the time of all ranks."""
        return cls([each.mean_share for each in accounts])

    @classmethod
    def of_sites(cls, accounts: Iterable[Account]) -> dict[Spot, OverLaunches]:
        """What each place takes of a rank in seconds, in the mean of ranks, in the launches that
        called it."""
        found: dict[Spot, list[float]] = {}
        for account in accounts:
            for each in account.sites:
                found.setdefault(each.spot, []).append(each.mean_s)
        return {spot: cls(values) for spot, values in found.items()}

    @cached_property
    def estimate(self) -> Estimate:
        """The median with the ends of its interval; of few launches with those of all."""
        return estimate(self.values)

    @property
    def median(self) -> float:
        return self.estimate.value
