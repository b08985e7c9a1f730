# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The network of a run as a whole: shares, hot spots, impacts, and who is to blame."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.model.record import Matching
from mpigauge.result.fabric.impact import SUITE, Impact, impacts
from mpigauge.result.fabric.matchings import Pairing, bursts, estimate, pairings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.model.row import Estimate, Row
    from mpigauge.result.fabric.blame import Account, Flows
    from mpigauge.result.fabric.hosts import HostShare
    from mpigauge.result.fabric.matchings import Pair, Times
    from mpigauge.runs.store import Run

HEADER = "fabric"
"""The entry of run.json with the hosts, the ranks of each, and their groups."""
RANDOM, HALVES, GROUPS = "Permutations", "Bisection", "Bisection_groups"
TO_ONE, FROM_ONE = "Many_to_one", "One_to_many"
WAYS = {RANDOM: "random pairs", HALVES: "halves by name", GROUPS: "halves by group"}
SPOTS = {TO_ONE: "many to one", FROM_ONE: "one to many"}
FALL = 0.5
"""The share of its largest total bandwidth below which a hot spot has collapsed."""


@dataclass(frozen=True)
class HotSpot:
    """One host and a growing number of others."""

    benchmark: str
    totals: tuple[tuple[int, float], ...]
    """The number of other hosts, and the total bandwidth in bytes per second."""

    @property
    def best(self) -> tuple[int, float]:
        return max(self.totals, key=lambda each: each[1])

    @property
    def falls_at(self) -> int | None:
        """The number of other hosts from which the total is below FALL of its largest; None: it
        never is."""
        most_hosts, most = self.best
        for hosts, total in self.totals:
            if hosts > most_hosts and total < FALL * most:
                return hosts
        return None


@dataclass(frozen=True)
class Fabric:
    hosts: tuple[str, ...]
    lanes: int
    """The number of ranks on each host."""
    groups: tuple[str, ...]
    """The name of the group of each host; empty: no groups are known."""
    pairings: tuple[Pairing, ...]
    hot_spots: tuple[HotSpot, ...] = ()
    impacts: tuple[Impact, ...] = ()
    bursts: tuple[Times, ...] = ()
    """The bursts of short messages per second of the pairs of each round."""

    def pairing(self, name: str) -> Pairing | None:
        return next((each for each in self.pairings if each.name == name), None)

    @cached_property
    def account(self) -> Account:
        """The faults that the pairs show."""
        from mpigauge.result.fabric.blame import Flows, accuse

        bursts = Flows.of_rounds([(*pair, rate) for pair, rate in of.items()] for of in self.bursts)
        alone = alone_of(self.pairings)
        return accuse(self._flows(), self.hosts, self.groups, alone, bursts)

    @cached_property
    def pair_shares(self) -> dict[Pair, Estimate]:
        """The bandwidth of each pair of hosts beside all others as a share of its own alone, over
        all rounds."""
        alone = alone_of(self.pairings)
        values: dict[Pair, list[float]] = defaultdict(list)
        for each in (of_round for pairing in self.pairings for of_round in pairing.rounds):
            for pair, together in each.together.items():
                if pair in alone:
                    values[pair].append(together / alone[pair])
        shares = {pair: estimate(of) for pair, of in sorted(values.items())}
        return {pair: share for pair, share in shares.items() if share}

    @cached_property
    def usual_pair(self) -> float:
        """The median bandwidth of all pairs beside all others; NaN: none was measured."""
        from statistics import median

        values = [value for of in self._together.values() for value in of]
        return median(values) if values else math.nan

    @cached_property
    def pair_ratios(self) -> dict[Pair, Estimate]:
        """The bandwidth of each pair of hosts beside all others, relative to `usual_pair`."""
        ratios = {
            pair: estimate(value / self.usual_pair for value in of)
            for pair, of in sorted(self._together.items())
        }
        return {pair: ratio for pair, ratio in ratios.items() if ratio}

    @cached_property
    def _together(self) -> dict[Pair, list[float]]:
        """The bandwidths of each pair in all rounds."""
        values: dict[Pair, list[float]] = defaultdict(list)
        for each in (of_round for pairing in self.pairings for of_round in pairing.rounds):
            for pair, together in each.together.items():
                values[pair].append(together)
        return values

    @cached_property
    def host_shares(self) -> tuple[HostShare, ...]:
        """The bandwidth of each host relative to its peers."""
        from mpigauge.result.fabric.hosts import host_shares

        return tuple(host_shares(self._flows(), self.hosts))

    def _flows(self) -> Flows:
        from mpigauge.result.fabric.blame import Flows

        rounds = [each.together for pairing in self.pairings for each in pairing.rounds]
        return Flows.of_rounds([(*pair, value) for pair, value in of.items()] for of in rounds)


def fabric_of(run: Run, rows: Iterable[Row]) -> Fabric | None:
    """The network of a run; None: it has no benchmark of all hosts at once."""
    matchings = [each for each in run.of(Matching) if each.key.get("suite") == SUITE]
    ours = [row for row in rows if row.cell.suite == SUITE]
    if not matchings and not ours:
        return None
    head = run.header.get(HEADER) or {}
    lanes = int(head.get("lanes") or 1)
    hosts = tuple(head.get("hosts") or hosts_of(run, lanes))
    every = pairings(matchings, lanes)
    groups = tuple(head.get("groups") or ())
    return Fabric(
        hosts=hosts,
        lanes=lanes,
        groups=_measured_groups(every, len(hosts)) if head.get("measured") else groups,
        pairings=every,
        hot_spots=tuple(_hot_spots(ours, lanes)),
        impacts=impacts(run),
        bursts=bursts(matchings, lanes),
    )


def _measured_groups(every: Iterable[Pairing], hosts: int) -> tuple[str, ...]:
    """The names of the groups of hosts that are near to each other, by the bandwidths of pairs
    alone."""
    import numpy as np

    from mpigauge.result.fabric.groups import group_of_hosts, measured_groups

    distances = np.full((hosts, hosts), math.nan)
    for (first, second), value in alone_of(every).items():
        distances[first, second] = distances[second, first] = 1 / value
    groups = measured_groups(distances)
    return tuple(groups[place].name for place in group_of_hosts(groups))


def alone_of(every: Iterable[Pairing]) -> dict[tuple[int, int], float]:
    """The bandwidth of each pair alone: the mean over the ways to pair hosts."""
    values: dict[tuple[int, int], list[float]] = defaultdict(list)
    for pairing in every:
        for pair, value in pairing.alone().items():
            values[pair].append(value)
    return {pair: sum(of) / len(of) for pair, of in values.items()}


def hosts_of(run: Run, lanes: int) -> Sequence[str]:
    """The names of hosts by their ranks; ranks of one host that each stand for a host have the
    number of the rank."""
    by_place: dict[int, str] = {}
    for rank in run.ranks:
        by_place.setdefault(rank.rank // lanes, rank.host)
    if len(set(by_place.values())) == len(by_place):
        return [by_place[place] for place in sorted(by_place)]
    return [f"{by_place[place]}:{place}" for place in sorted(by_place)]


def _hot_spots(rows: Sequence[Row], lanes: int) -> Iterable[HotSpot]:
    for benchmark in (TO_ONE, FROM_ONE):
        totals: dict[int, float] = {}
        for row in rows:
            if row.cell.benchmark == benchmark and row.bandwidth:
                others = row.ranks // lanes - 1
                totals[others] = max(row.bandwidth.value, totals.get(others, -math.inf))
        if totals:
            yield HotSpot(benchmark, tuple(sorted(totals.items())))
