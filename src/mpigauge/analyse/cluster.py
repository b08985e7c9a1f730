# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What each host of a run does with the same work: at once with all others, and alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.model.cards import NODE_SUITE
from mpigauge.plan.cluster import AGAIN, ALONE
from mpigauge.stats.peers import LEAST_PEERS, Usual, odd_ones

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mpigauge.model.record import Rank
    from mpigauge.model.row import Estimate, Row
    from mpigauge.stats.peers import OddOne

LESS = 1.05
"""At once by alone: less is not worth a word."""


@dataclass(frozen=True)
class Kernel:
    """A benchmark at one size, on every host."""

    benchmark: str
    message_bytes: int
    at_once: Mapping[str, Row]
    alone: Mapping[str, Row]
    again: Mapping[str, Row]
    """Of those that stood out."""

    @cached_property
    def usual(self) -> Usual:
        """Of all at once, what holds: measured again where it was."""
        return Usual(tuple(self._holding.values()))

    @cached_property
    def odd(self) -> tuple[OddOne, ...]:
        return odd_ones(self._holding)

    @cached_property
    def odd_at_first(self) -> tuple[OddOne, ...]:
        return odd_ones(_times(self.at_once))

    @property
    def cleared(self) -> tuple[str, ...]:
        """Hosts that stood out once, but not when they were measured again."""
        odd = {each.name for each in self.odd}
        return tuple(
            o.name for o in self.odd_at_first if o.name in self.again and o.name not in odd
        )

    @property
    def suffering(self) -> Mapping[str, float]:
        """Hosts that are slower at once with others than alone by more than the errors, and by how
        much."""
        found = {}
        for host, row in self.at_once.items():
            alone = self.alone.get(host)
            ratio = row.latency.value / alone.latency.value if alone else 1.0
            if alone and ratio > LESS and row.latency.low > alone.latency.high:
                found[host] = ratio
        return found

    @property
    def _holding(self) -> dict[str, Estimate]:
        return _times({**self.at_once, **self.again})


@dataclass(frozen=True)
class Cluster:
    hosts: tuple[str, ...]
    ranks: int
    """Of each."""
    kernels: tuple[Kernel, ...]

    @property
    def can_judge(self) -> bool:
        return len(self.hosts) >= LEAST_PEERS


def cluster(rows: Iterable[Row], host_of: Callable[[Row], str]) -> Cluster | None:
    """None: these rows are not of several hosts at once."""
    found: dict[tuple[str, int], dict[str, dict[str, Row]]] = defaultdict(
        lambda: {"": {}, ALONE: {}, AGAIN: {}}
    )
    hosts: dict[str, int] = {}
    for row in rows:
        kind = ALONE if row.cell.arm.startswith(ALONE) else row.cell.arm
        if row.cell.suite != NODE_SUITE or row.cell.group < 0 or kind not in ("", ALONE, AGAIN):
            continue
        host = host_of(row)
        found[row.cell.benchmark, row.message_bytes][kind][host] = row
        if not kind:
            hosts[host] = row.ranks
    if len(hosts) < 2:
        return None
    kernels = (Kernel(*key, of[""], of[ALONE], of[AGAIN]) for key, of in found.items() if of[""])
    return Cluster(tuple(hosts), next(iter(hosts.values())), tuple(kernels))


def by_ranks(ranks: Iterable[Rank]) -> Callable[[Row], str]:
    """The host of the first rank of the group of a row, as the rank told it."""
    hosts = {(rank.launch, rank.rank): rank.host for rank in ranks}

    def host_of(row: Row) -> str:
        first = max(row.cell.group, 0) * row.ranks
        return hosts.get((row.cell.launch, first), f"group {row.cell.group}")

    return host_of


def _times(rows: Mapping[str, Row]) -> dict[str, Estimate]:
    return {host: row.latency for host, row in rows.items()}
