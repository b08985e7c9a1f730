# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The performance of each host of a run with the same work: at once with all others, and alone.

A host is named slow only where it was so each time that it was measured: hosts that stand out are
measured again, at once with all others and alone.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.compute.blas import BLAS
from mpigauge.model.cards import NODE_SUITE, benchmark_word
from mpigauge.products.node.cluster.plan import AGAIN, AGAIN_ALONE, ALONE
from mpigauge.result.node.threads import settings_of_row
from mpigauge.result.stats.peers import LEAST_PEERS, PeerValues, odd_ones

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mpigauge.model.record import Rank
    from mpigauge.model.row import Estimate, Row
    from mpigauge.result.stats.peers import OddOne

LESS = 1.05
"""The ratio of the time at once to that alone that is worth a sentence."""


@dataclass(frozen=True)
class HostsTogether:
    """All hosts at once, or each alone."""

    first: Mapping[str, Row]
    again: Mapping[str, Row] = field(default_factory=dict)
    """The results of hosts that were measured again."""

    @property
    def last(self) -> Mapping[str, Row]:
        """The last result of each host."""
        return {**self.first, **self.again}

    @cached_property
    def usual(self) -> PeerValues:
        return PeerValues(tuple(_times(self.last).values()))

    @cached_property
    def odd_at_first(self) -> tuple[OddOne, ...]:
        return odd_ones(_times(self.first))

    @cached_property
    def odd_at_last(self) -> tuple[OddOne, ...]:
        return odd_ones(_times(self.last))

    @cached_property
    def odd(self) -> tuple[OddOne, ...]:
        """The hosts that take longer than their peers each time."""
        before = {each.name for each in self.odd_at_first}
        return tuple(each for each in self.odd_at_last if each.name in before)

    @property
    def once(self) -> tuple[str, ...]:
        """Hosts that stood out in one of two measurements only."""
        before = {each.name for each in self.odd_at_first}
        after = {each.name for each in self.odd_at_last}
        return tuple(host for host in self.again if host in before ^ after)

    def ratio(self, host: str) -> float:
        """The time of a host over the median of all; NaN: that is not known."""
        row = self.last.get(host)
        if row is None or len(self.last) < LEAST_PEERS:
            return math.nan
        return row.latency.value / self.usual.median_s


@dataclass(frozen=True)
class Kernel:
    """A benchmark at one size, on every host."""

    benchmark: str
    message_bytes: int
    library: str
    """The library of matrix products; empty for other benchmarks."""
    at_once: HostsTogether
    alone: HostsTogether

    @property
    def word(self) -> str:
        return benchmark_word(NODE_SUITE, self.benchmark)

    @cached_property
    def odd(self) -> tuple[str, ...]:
        """Hosts that are slow at once with others or alone, the worst first."""
        ratios: dict[str, float] = {}
        for each in (*self.at_once.odd, *self.alone.odd):
            ratios[each.name] = max(each.ratio, ratios.get(each.name, 0.0))
        return tuple(sorted(ratios, key=lambda host: -ratios[host]))

    @property
    def cleared(self) -> tuple[str, ...]:
        """Hosts that stood out once, but not both times."""
        once = dict.fromkeys((*self.at_once.once, *self.alone.once))
        return tuple(host for host in once if host not in self.odd)

    @property
    def suffering(self) -> Mapping[str, float]:
        """Hosts that are slower at once with others than alone by more than the errors, and by how
        much."""
        ratios = {}
        for host, row in self.at_once.last.items():
            alone = self.alone.last.get(host)
            if alone is None:
                continue
            ratio = row.latency.value / alone.latency.value
            if ratio > LESS and row.latency.low > alone.latency.high:
                ratios[host] = ratio
        return ratios


@dataclass(frozen=True)
class Cluster:
    hosts: tuple[str, ...]
    ranks: int
    """The number of ranks on each host."""
    kernels: tuple[Kernel, ...]

    @property
    def can_judge(self) -> bool:
        return len(self.hosts) >= LEAST_PEERS


def cluster(rows: Iterable[Row], host_of: Callable[[Row], str]) -> Cluster | None:
    """The hosts side by side; None: these rows are not of several hosts at once."""
    cells: dict[tuple[str, int, str], dict[str, dict[str, Row]]] = defaultdict(
        lambda: {kind: {} for kind in ("", ALONE, AGAIN, AGAIN_ALONE)}
    )
    hosts: dict[str, int] = {}
    for row in rows:
        kind = kind_of(row.cell.arm)
        if row.cell.suite != NODE_SUITE or row.cell.group < 0 or kind is None:
            continue
        host, cell = host_of(row), row.cell
        cells[cell.benchmark, row.message_bytes, settings_of_row(row).get(BLAS, "")][kind][host] = (
            row
        )
        if not kind:
            hosts[host] = row.ranks
    if len(hosts) < 2:
        return None
    kernels = []
    for key, of in cells.items():
        if of[""]:
            at_once, alone = (
                HostsTogether(of[""], of[AGAIN]),
                HostsTogether(of[ALONE], of[AGAIN_ALONE]),
            )
            kernels.append(Kernel(*key, at_once, alone))
    ranks, *_ = hosts.values()
    return Cluster(tuple(hosts), ranks, tuple(kernels))


def kind_of(arm: str) -> str | None:
    """The kind of a launch by its arm: all at once (empty), alone, or either of them again; None:
    another kind."""
    for kind in (ALONE, AGAIN_ALONE):
        if arm.startswith(kind):
            return kind
    if arm in ("", AGAIN):
        return arm
    return None


def by_ranks(ranks: Iterable[Rank]) -> Callable[[Row], str]:
    """The host of the first rank of the group of a row, as the rank told it."""
    hosts = {(rank.launch, rank.rank): rank.host for rank in ranks}

    def host_of(row: Row) -> str:
        first = max(row.cell.group, 0) * row.ranks
        return hosts.get((row.cell.launch, first), f"group {row.cell.group}")

    return host_of


def by_arm(names: Mapping[int, str]) -> Callable[[Row], str]:
    """The name of a host by a row, as hosts were named: by their groups in launches of all, by the
    arm in those of one."""

    def host_of(row: Row) -> str:
        kind = kind_of(row.cell.arm)
        if kind in (ALONE, AGAIN_ALONE):
            return row.cell.arm.removeprefix(kind)
        return names[row.cell.group]

    return host_of


def _times(rows: Mapping[str, Row]) -> dict[str, Estimate]:
    return {host: row.latency for host, row in rows.items()}
