# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Synchronizes the clocks of several hosts.

Ranks of a host share the processor's counter. Other hosts record their own clock, which has an
offset and drifts. But all ranks leave a synchronizing collective at about the same time, so the
median difference to the first host in each window of such calls is the offset of a clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.read.rank_file import RankFile

Ticks = npt.NDArray[np.uint64]
Times = npt.NDArray[np.float64]
Left = tuple[Sequence[int], Ticks, Ticks]
"""The ranks, and the ticks at which they entered and left the calls of one kind."""
WINDOW = 20
"""The number of calls for one median."""


@dataclass(frozen=True)
class _Host:
    base: int
    """The ticks at a reference moment."""
    hz: float
    at_s: float
    """The time of its clock at that moment, relative to that of the first host."""
    when: Times
    off: Times
    """The offset of its clock to the first host at these times."""

    def seconds(self, ticks: Ticks) -> Times:
        times = (ticks.astype(np.int64) - self.base) / self.hz + self.at_s
        if not len(self.when):
            return np.asarray(times)
        return np.asarray(times - np.interp(times, self.when, self.off))


@dataclass(frozen=True)
class Clocks:
    """The clocks of all ranks of a profile, by host."""

    hosts: dict[str, _Host]
    host_of: tuple[str, ...]

    @staticmethod
    def of(files: Sequence[RankFile], shared: Sequence[Left]) -> Clocks:
        host_of = tuple(file.host for file in files)
        names = list(dict.fromkeys(host_of))
        longest: dict[str, RankFile] = {}
        for file in files:
            if file.host not in longest or file.run_s > longest[file.host].run_s:
                longest[file.host] = file
        clocks = {name: _uncorrected(longest[name], longest[names[0]]) for name in names}
        hosts = {names[0]: clocks[names[0]]} if names else {}
        for name in names[1:]:
            when, off = _differences(clocks, host_of, shared, names[0], name)
            plain = clocks[name]
            hosts[name] = _Host(plain.base, plain.hz, plain.at_s, when, off)
        return Clocks(hosts, host_of)

    def seconds(self, ranks: Sequence[int], ticks: Ticks) -> Times:
        """Converts ticks, by call and rank, to seconds."""
        columns = [
            self.hosts[self.host_of[rank]].seconds(ticks[:, place])
            for place, rank in enumerate(ranks)
        ]
        return np.stack(columns, axis=1)

    def span(self, rank: int, other: int) -> tuple[float, float]:
        """Returns the interval of time in which the clocks of two ranks can be compared."""
        low, high = -np.inf, np.inf
        if self.host_of[rank] == self.host_of[other]:
            return low, high
        first = next(iter(self.hosts), "")
        for host in {self.host_of[rank], self.host_of[other]} - {first}:
            when = self.hosts[host].when
            low = max(low, float(when.min(initial=np.inf)))
            high = min(high, float(when.max(initial=-np.inf)))
        return low, high


def _uncorrected(best: RankFile, zero: RankFile) -> _Host:
    """Returns the uncorrected clock of a host, with the rate from the rank that ran longest.
    `zero`: that rank of the first host."""
    none = np.empty(0)
    return _Host(best.start_ticks, best.hz, best.start_utc_s - zero.start_utc_s, none, none)


def _differences(
    clocks: dict[str, _Host], host_of: Sequence[str], shared: Sequence[Left], first: str, other: str
) -> tuple[Times, Times]:
    """Returns the times of windows, and how much later the other host left in each."""
    when, off = [], []
    for ranks, _, left in shared:
        here = [n for n, rank in enumerate(ranks) if host_of[rank] == first]
        there = [n for n, rank in enumerate(ranks) if host_of[rank] == other]
        if here and there:
            begun = clocks[first].seconds(left[:, here]).mean(axis=1)
            ended = clocks[other].seconds(left[:, there]).mean(axis=1)
            when.append(ended)
            off.append(ended - begun)
    if not when:
        return np.empty(0), np.empty(0)
    times, differences = np.concatenate(when), np.concatenate(off)
    order = np.argsort(times)
    parts = np.array_split(order, max(1, len(order) // WINDOW))
    medians = [(np.median(times[part]), np.median(differences[part])) for part in parts]
    windows = np.array(medians)
    return windows[:, 0], windows[:, 1]
