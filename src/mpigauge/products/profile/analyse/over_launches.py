# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Estimates of one number over the launches of a program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.result.stats.figures import estimate

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.match.merge import Spot


@dataclass(frozen=True)
class OverLaunches:
    """A number of each launch, with its median and interval."""

    values: Sequence[float]

    @classmethod
    def of_run_s(cls, accounts: Iterable[Account]) -> OverLaunches:
        """Returns the run time in seconds, in the mean of ranks."""
        return cls([float(each.run_s.mean()) for each in accounts])

    @classmethod
    def of_mpi_share(cls, accounts: Iterable[Account]) -> OverLaunches:
        """Returns the share of MPI in the time of all ranks."""
        return cls([each.mean_share for each in accounts])

    @classmethod
    def of_sites(cls, accounts: Iterable[Account]) -> dict[Spot, OverLaunches]:
        """Returns the time in each call site in seconds, in the mean of ranks, in the launches with
        calls there."""
        times: dict[Spot, list[float]] = {}
        for account in accounts:
            for each in account.sites:
                times.setdefault(each.spot, []).append(each.mean_s)
        return {spot: cls(values) for spot, values in times.items()}

    @cached_property
    def estimate(self) -> Estimate:
        """The median with its interval; with few launches with the range of all."""
        return estimate(self.values)

    @property
    def median(self) -> float:
        return self.estimate.value
