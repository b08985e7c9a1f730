# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What PUs share: the levels of a machine, and the closest one that two PUs have in common."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.topology import Pu, Topology

NAMES = ("pu", "core", "l2", "l3", "l4", "numa", "socket", "node")
"""From near to far. Where two levels are the same PUs, the nearer one gives the name."""
MEANING = {
    "pu": "one hardware thread",
    "core": "hardware threads of one core",
    "l2": "cores that share an L2 cache",
    "l3": "cores that share an L3 cache",
    "l4": "cores that share an L4 cache",
    "numa": "cores of one NUMA node",
    "socket": "cores of one socket",
    "node": "cores of one node",
}
Group = frozenset[int]


@dataclass(frozen=True)
class Levels:
    """The groups of PUs that share something, of all levels that a machine tells."""

    topology: Topology
    groups: dict[str, tuple[Group, ...]] = field(hash=False)
    """By name, in the order of PUs; levels that the machine does not tell are not there."""
    around: dict[int, dict[str, Group]] = field(hash=False)
    """For each PU the group of each level that it is in."""

    @classmethod
    def of(cls, topology: Topology) -> Levels:
        named: dict[str, set[Group]] = {name: set() for name in NAMES}
        for name, group in _groups(topology):
            named[name].add(group)
        ordered = {name: tuple(sorted(found, key=min)) for name, found in named.items() if found}
        around: dict[int, dict[str, Group]] = {pu.number: {} for pu in topology.pus}
        for name, groups in ordered.items():
            for group in groups:
                for pu in group:
                    around[pu].setdefault(name, group)
        return cls(topology, ordered, around)

    def closest(self, first: int, second: int) -> str:
        """The level of the smallest group that holds both."""
        shared = []
        for name, group in self.around[first].items():
            if second in group:
                shared.append((len(group), NAMES.index(name), name))
        return min(shared)[2]

    def cores(self) -> list[Pu]:
        """The first usable PU of each core, neighbours beside each other: in the order of the
        tree, of which hwloc numbers the logical cores."""
        first: dict[int, Pu] = {}
        for pu in self.topology.usable:
            first.setdefault(pu.core, pu)
        return sorted(first.values(), key=lambda pu: self._place(pu.number))

    def usable_groups(self, name: str) -> list[Group]:
        """The groups of a level, without what may not be used, in the order of the tree."""
        allowed = self.topology.allowed
        kept = [group & allowed for group in self.groups.get(name, ()) if group & allowed]
        return sorted(kept, key=lambda group: self._place(min(group)))

    def shared(self) -> dict[str, int]:
        """How many pairs of usable PUs, the cores' first ones and their siblings, have each level
        as the closest one; only those that some pair has."""
        cores = [pu.number for pu in self.cores()]
        counts = Counter(self.closest(a, b) for place, a in enumerate(cores) for b in cores[:place])
        held = Counter(pu.core for pu in self.topology.usable)
        counts["core"] += sum(n * (n - 1) // 2 for n in held.values())
        return {name: counts[name] for name in NAMES if counts[name]}

    def _place(self, pu: int) -> tuple[int, ...]:
        """The first PUs of what is around it, from the outside in."""
        around = sorted(self.around[pu].values(), key=len, reverse=True)
        return tuple(min(group) for group in around)


def _groups(topology: Topology) -> Iterator[tuple[str, Group]]:
    everything = frozenset(pu.number for pu in topology.pus)
    if everything:
        yield "node", everything
    for name, key in (("core", "core"), ("socket", "package")):
        found: dict[int, set[int]] = {}
        for pu in topology.pus:
            found.setdefault(getattr(pu, key), set()).add(pu.number)
        yield from ((name, frozenset(group)) for group in found.values())
    yield from (("pu", frozenset({pu.number})) for pu in topology.pus)
    yield from (("numa", node.pus & everything) for node in topology.numa if node.pus & everything)
    for cache in topology.caches:
        name = f"l{cache.level}"
        if name in NAMES and cache.kind != "instruction":
            yield name, cache.pus & everything
