# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One clock for ranks of several hosts.

Ranks of a host share the processor's counter. Those of other hosts have told what their clock
says, which is off and drifts. But where a collective synchronises, all leave it at about one time;
so the medians of how much later than the first host the others left, window by window, say by how
much their clocks are off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mpigauge.features.profile.files import RankFile

Ticks = npt.NDArray[np.uint64]
Times = npt.NDArray[np.float64]
Left = tuple[Sequence[int], Ticks, Ticks]
"""Ranks, and when they entered and left the calls of one kind."""
WINDOW = 20
"""Calls of which a median is taken."""


@dataclass(frozen=True)
class _Host:
    base: int
    """A moment in its ticks."""
    hz: float
    at_s: float
    """What its clock said then, after the same moment of the first host."""
    when: Times
    off: Times
    """By how much it is ahead of the first host, at these times."""

    def seconds(self, ticks: Ticks) -> Times:
        told = (ticks.astype(np.int64) - self.base) / self.hz + self.at_s
        if not len(self.when):
            return np.asarray(told)
        return np.asarray(told - np.interp(told, self.when, self.off))


@dataclass(frozen=True)
class Clocks:
    """The clocks of all ranks of a profile, by the hosts they are on."""

    hosts: dict[str, _Host]
    host_of: tuple[str, ...]

    @staticmethod
    def of(files: Sequence[RankFile], shared: Sequence[Left]) -> Clocks:
        host_of = tuple(file.host for file in files)
        names = list(dict.fromkeys(host_of))
        told = {name: _told(files, name, names[0]) for name in names}
        hosts = {names[0]: told[names[0]]} if names else {}
        for name in names[1:]:
            when, off = _differences(told, host_of, shared, names[0], name)
            plain = told[name]
            hosts[name] = _Host(plain.base, plain.hz, plain.at_s, when, off)
        return Clocks(hosts, host_of)

    def seconds(self, ranks: Sequence[int], ticks: Ticks) -> Times:
        """Ticks by call and rank."""
        columns = [
            self.hosts[self.host_of[rank]].seconds(ticks[:, place])
            for place, rank in enumerate(ranks)
        ]
        return np.stack(columns, axis=1)

    def span(self, rank: int, other: int) -> tuple[float, float]:
        """Between which moments it is known how far apart the clocks of two ranks are."""
        low, high = -np.inf, np.inf
        if self.host_of[rank] == self.host_of[other]:
            return low, high
        first = next(iter(self.hosts), "")
        for host in {self.host_of[rank], self.host_of[other]} - {first}:
            when = self.hosts[host].when
            low = max(low, float(when.min(initial=np.inf)))
            high = min(high, float(when.max(initial=-np.inf)))
        return low, high


def _told(files: Sequence[RankFile], name: str, first: str) -> _Host:
    """As the host's own clock has it; the rate of the file that saw most of it is the surest."""
    best = max((file for file in files if file.host == name), key=lambda file: file.run_s)
    zero = max((file for file in files if file.host == first), key=lambda file: file.run_s)
    none = np.empty(0)
    return _Host(best.start_ticks, best.hz, best.start_utc_s - zero.start_utc_s, none, none)


def _differences(
    told: dict[str, _Host], host_of: Sequence[str], shared: Sequence[Left], first: str, other: str
) -> tuple[Times, Times]:
    """When a window was, and how much later the other host left."""
    when, off = [], []
    for ranks, _, left in shared:
        here = [n for n, rank in enumerate(ranks) if host_of[rank] == first]
        there = [n for n, rank in enumerate(ranks) if host_of[rank] == other]
        if here and there:
            begun = told[first].seconds(left[:, here]).mean(axis=1)
            ended = told[other].seconds(left[:, there]).mean(axis=1)
            when.append(ended)
            off.append(ended - begun)
    if not when:
        return np.empty(0), np.empty(0)
    times, differences = np.concatenate(when), np.concatenate(off)
    order = np.argsort(times)
    parts = np.array_split(order, max(1, len(order) // WINDOW))
    medians = [(np.median(times[part]), np.median(differences[part])) for part in parts]
    found = np.array(medians)
    return found[:, 0], found[:, 1]
