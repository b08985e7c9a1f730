# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Decides what bounds a program: computation, MPI, input and output, or cores that others use.

A rank that never loses its core has as much CPU time as run time, since MPI libraries poll while
they wait. The time off the CPU is divided by context switches: a rank that is preempted switches
involuntarily, a rank that blocks or sleeps voluntarily.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from mpigauge.products.profile.analyse.efficiencies import Efficiencies, efficiencies_of

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.analyse.entries import Numbers

Bound = Literal["starved", "compute", "MPI", "I/O", "unknown"]
Limit = Literal["load balance", "serialisation", "transfer", "communication"]

LEAST_LOST = 0.1
"""The least share of its run time that a rank was kept from its core, for a starved program."""
NEARLY_AS_MUCH = 0.8
"""The least time in MPI, as a share of that of computation, from which MPI bounds a program. If one
of two ranks always waits for the other, both take half of the run time."""
LONGEST_SLICE_S = 0.02
"""The longest time that a rank waits for its core at one involuntary switch, for each rank that
shares the core: schedulers give others some milliseconds."""


@dataclass(frozen=True)
class WhatBounds:
    """The shares of the run time of all ranks, and what they say."""

    account: Account

    # --- cores
    @cached_property
    def cpu_s(self) -> Numbers | None:
        """The CPU time of each rank; None: unknown."""
        times = [file.usage.user_s + file.usage.system_s for file in self.account.ranks]
        switches = [file.usage.involuntary_switches for file in self.account.ranks]
        is_known = np.isfinite(times).all() and min(times, default=-1.0) > 0
        if not is_known or min(switches, default=-1) < 0:
            return None
        return np.array(times)

    @cached_property
    def off_s(self) -> Numbers:
        """The time of each rank off the CPU; 0 if it is unknown."""
        if self.cpu_s is None:
            return np.zeros(len(self.account.ranks))
        return np.clip(self.account.run_s - self.cpu_s, 0.0, None)

    @cached_property
    def lost_s(self) -> Numbers:
        """The time in which each rank was ready to run, and others had its core."""
        usages = [file.usage for file in self.account.ranks]
        involuntary = np.array([float(each.involuntary_switches) for each in usages])
        voluntary = np.array([float(max(each.voluntary_switches, 0)) for each in usages])
        share = involuntary / np.maximum(involuntary + voluntary, 1.0)
        most_s = np.clip(involuntary, 0.0, None) * LONGEST_SLICE_S * max(self.ranks_per_core, 1.0)
        return np.asarray(np.minimum(self.off_s * np.clip(share, 0.0, 1.0), most_s))

    @cached_property
    def lost_shares(self) -> Numbers:
        run_s = self.account.run_s
        return np.divide(self.lost_s, run_s, out=np.zeros(len(run_s)), where=run_s > 0)

    @property
    def core_share(self) -> float:
        """The share of the run time of all ranks in which they had a core."""
        whole_s = float(self.account.run_s.sum())
        return 1.0 - float(self.lost_s.sum()) / whole_s if whole_s > 0 else 1.0

    @cached_property
    def ranks_per_core(self) -> float:
        """The ranks per core on the host with most of them, by the cores on which they were seen;
        0: unknown."""
        ranks: Counter[str] = Counter()
        cores: dict[str, set[int]] = defaultdict(set)
        for file in self.account.ranks:
            ranks[file.host] += 1
            cores[file.host].update(file.cpus)
        return max((ranks[host] / len(of) for host, of in cores.items() if of), default=0.0)

    @property
    def is_starved(self) -> bool:
        """True if a rank was kept from its core so long that others may have waited for it. Cores
        that are lost in MPI-IO do not count, as the system takes them to write the files."""
        run_s = self.account.run_s
        files = np.divide(self.file_s, run_s, out=np.zeros(len(run_s)), where=run_s > 0)
        shares = self.lost_shares * (1.0 - np.clip(files, 0.0, 1.0))
        return bool(shares.max(initial=0.0) >= LEAST_LOST)

    @property
    def is_oversubscribed(self) -> bool:
        return self.is_starved and self.ranks_per_core > 1

    # --- shares of the run time of all ranks
    @cached_property
    def io_s(self) -> Numbers:
        """The time of each rank in MPI-IO, and off the CPU outside MPI."""
        return self.file_s + np.minimum(self.off_s - self.lost_s, self.account.own_s)

    @cached_property
    def file_s(self) -> Numbers:
        """The time of each rank in MPI-IO."""
        seconds = np.zeros(len(self.account.ranks))
        for called in self.account.inside:
            if called.spot.is_file:
                seconds = seconds + called.seconds
        return seconds

    @cached_property
    def messages_s(self) -> Numbers:
        """The time of each rank in MPI without MPI-IO."""
        return np.clip(self.account.mpi_s - self.file_s, 0.0, None)

    @property
    def computing_s(self) -> Numbers:
        return np.clip(self.account.run_s - self.io_s - self.messages_s, 0.0, None)

    def share(self, seconds: Numbers) -> float:
        whole_s = float(self.account.run_s.sum())
        return float(seconds.sum()) / whole_s if whole_s > 0 else 0.0

    @cached_property
    def bound(self) -> Bound:
        """The largest share, unless cores were lost; MPI wins against computation from
        NEARLY_AS_MUCH of its share on."""
        if not float(self.account.run_s.sum()) > 0:
            return "unknown"
        if self.is_starved:
            return "starved"
        shares: dict[Bound, float] = {
            "compute": NEARLY_AS_MUCH * self.share(self.computing_s),
            "MPI": self.share(self.messages_s),
            "I/O": self.share(self.io_s),
        }
        return max(shares, key=lambda name: shares[name])

    # --- the reason
    @cached_property
    def efficiencies(self) -> Efficiencies:
        return efficiencies_of(self.account)

    @property
    def limit(self) -> Limit:
        """The lowest factor of the parallel efficiency; communication stays whole if the intervals
        of its factors leave their order open."""
        of = self.efficiencies
        factors: dict[Limit, float] = {"load balance": of.load_balance}
        if of.is_split and not of.serialisation.overlaps(of.transfer):
            factors["serialisation"] = of.serialisation.value
            factors["transfer"] = of.transfer.value
        else:
            factors["communication"] = of.communication
        return min(factors, key=lambda name: factors[name])
