# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The levels of a machine, at which PUs share something, and the distance of two PUs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.model.placement_words import SOCKETS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.topology import Pu, Topology

NAMES = ("pu", "core", "l2", "l3", "l4", "numa", "socket", "node")
"""The levels from near to far. If two levels have the same PUs, the nearer one gives the name."""
DISTANCES = (*NAMES[:-1], SOCKETS)
"""The distances of two PUs from near to far, in the words of `--place`: the innermost level that
they share; two PUs that share only the host are on different sockets."""
MEANING = {
    "pu": "one hardware thread",
    "core": "hardware threads of one core",
    "l2": "cores that share an L2 cache",
    "l3": "cores that share an L3 cache",
    "l4": "cores that share an L4 cache",
    "numa": "cores of one NUMA node",
    "socket": "cores of one socket",
    SOCKETS: "cores of different sockets",
}
Group = frozenset[int]


@dataclass(frozen=True)
class Levels:
    """The groups of PUs that share something, at all levels that a machine reports."""

    topology: Topology
    groups: dict[str, tuple[Group, ...]] = field(hash=False)
    """The groups of each level, in the order of PUs, without levels that are not reported."""
    around: dict[int, dict[str, Group]] = field(hash=False)
    """The groups around each PU, by level."""

    @classmethod
    def of(cls, topology: Topology) -> Levels:
        named: dict[str, set[Group]] = {name: set() for name in NAMES}
        for name, group in _groups(topology):
            named[name].add(group)
        ordered = {
            name: tuple(sorted(level_groups, key=min))
            for name, level_groups in named.items()
            if level_groups
        }
        around: dict[int, dict[str, Group]] = {pu.number: {} for pu in topology.pus}
        for name, groups in ordered.items():
            for group in groups:
                for pu in group:
                    around[pu].setdefault(name, group)
        return cls(topology, ordered, around)

    def closest(self, first: int, second: int) -> str:
        """Returns the distance of two PUs, a word of DISTANCES."""
        shared = []
        for name, group in self.around[first].items():
            if second in group:
                shared.append((len(group), NAMES.index(name), name))
        _, place, _ = min(shared)
        return DISTANCES[place]

    def cores(self) -> list[Pu]:
        """Returns the first usable PU of each core, in the order of the tree, by which hwloc
        numbers logical cores."""
        first: dict[int, Pu] = {}
        for pu in self.topology.usable:
            first.setdefault(pu.core, pu)
        return sorted(first.values(), key=lambda pu: self._place(pu.number))

    def usable_groups(self, name: str) -> list[Group]:
        """Returns the groups of a level in the order of the tree, usable PUs only."""
        allowed = self.topology.allowed
        kept = [group & allowed for group in self.groups.get(name, ()) if group & allowed]
        return sorted(kept, key=lambda group: self._place(min(group)))

    def shared(self) -> dict[str, int]:
        """Returns the number of pairs of usable PUs (first PUs of cores, and siblings within a
        core) by their distance, without distances that no pair has."""
        cores = [pu.number for pu in self.cores()]
        counts = Counter(self.closest(a, b) for place, a in enumerate(cores) for b in cores[:place])
        held = Counter(pu.core for pu in self.topology.usable)
        counts["core"] += sum(n * (n - 1) // 2 for n in held.values())
        return {name: counts[name] for name in DISTANCES if counts[name]}

    def _place(self, pu: int) -> tuple[int, ...]:
        """Returns the first PU of each group around this one, from the outside in."""
        around = sorted(self.around[pu].values(), key=len, reverse=True)
        return tuple(min(group) for group in around)


def _groups(topology: Topology) -> Iterator[tuple[str, Group]]:
    everything = frozenset(pu.number for pu in topology.pus)
    if everything:
        yield "node", everything
    for name, key in (("core", "core"), ("socket", "package")):
        members: dict[int, set[int]] = {}
        for pu in topology.pus:
            members.setdefault(getattr(pu, key), set()).add(pu.number)
        yield from ((name, frozenset(group)) for group in members.values())
    yield from (("pu", frozenset({pu.number})) for pu in topology.pus)
    yield from (("numa", node.pus & everything) for node in topology.numa if node.pus & everything)
    for cache in topology.caches:
        name = f"l{cache.level}"
        if name in NAMES and cache.kind != "instruction":
            yield name, cache.pus & everything
