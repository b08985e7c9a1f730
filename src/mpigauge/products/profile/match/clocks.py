# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Synchronizes the clocks of several hosts.

Ranks of a host share the processor's counter. Other hosts record their own clock, which has an
offset and drifts. But all ranks leave a synchronizing collective at about the same time, so the
median difference to the first host in each window of such calls is the offset of a clock.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.read.rank_file import RankFile

Ticks = npt.NDArray[np.uint64]
Times = npt.NDArray[np.float64]
Left = tuple[Sequence[int], Ticks]
"""The ranks, and the ticks at which they left the calls of one kind, by call and rank."""
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
    def of(files: Sequence[RankFile], shared: Iterable[Left]) -> Clocks:
        """`shared`: the calls that ranks leave together, which are read for several hosts only."""
        host_of = tuple(file.host for file in files)
        names = list(dict.fromkeys(host_of))
        longest: dict[str, RankFile] = {}
        for file in files:
            if file.host not in longest or file.run_s > longest[file.host].run_s:
                longest[file.host] = file
        hosts = {name: _uncorrected(longest[name], longest[names[0]]) for name in names}
        if len(names) > 1:
            hosts |= _corrected(hosts, host_of, shared, names[0])
        return Clocks(hosts, host_of)

    def seconds(self, rank: int, ticks: Ticks) -> Times:
        """Converts the ticks of a rank to seconds."""
        return self.hosts[self.host_of[rank]].seconds(ticks)

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


def _corrected(
    clocks: dict[str, _Host], host_of: Sequence[str], shared: Iterable[Left], first: str
) -> dict[str, _Host]:
    """Returns the clocks of all hosts but the first, with their offsets to it."""
    when: dict[str, list[Times]] = defaultdict(list)
    off: dict[str, list[Times]] = defaultdict(list)
    for ranks, left in shared:
        places: dict[str, list[int]] = defaultdict(list)
        for place, rank in enumerate(ranks):
            places[host_of[rank]].append(place)
        here = places.pop(first, [])
        if not here:
            continue
        begun = clocks[first].seconds(left[:, here]).mean(axis=1)
        for name, there in places.items():
            ended = clocks[name].seconds(left[:, there]).mean(axis=1)
            when[name].append(ended)
            off[name].append(ended - begun)
    return {name: _with_windows(clocks[name], when[name], off[name]) for name in when}


def _with_windows(clock: _Host, when: Sequence[Times], off: Sequence[Times]) -> _Host:
    """Returns a clock with its median offset in each window of calls that ranks leave together."""
    times, differences = np.concatenate(when), np.concatenate(off)
    order = np.argsort(times)
    parts = np.array_split(order, max(1, len(order) // WINDOW))
    return replace(
        clock,
        when=np.array([np.median(times[part]) for part in parts]),
        off=np.array([np.median(differences[part]) for part in parts]),
    )
