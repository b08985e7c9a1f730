# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The structure of a machine on a page: sockets, NUMA nodes, caches, cores, cards, distances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.units import byte_count, dotted, many, memory, with_commas
from mpigauge.model.width import left_aligned
from mpigauge.show.topology.gpus import gpu_lines
from mpigauge.site.topology.levels import MEANING, Levels

if TYPE_CHECKING:
    from mpigauge.model.topology import Cache, Device, Numa, Pu, Topology

Group = frozenset[int]
_KINDS = {"data": "d", "instruction": "i", "unified": ""}
_LONG = 24
"""A list of PUs that is longer than this is shortened where its step is the same everywhere."""


def page(topology: Topology, width: int = 96) -> list[str]:
    """The lines of the page; `width` is that of the screen."""
    levels = Levels.of(topology)
    blocks = [_head(topology), _excluded(topology)]
    for number in _packages(topology):
        blocks.append(_socket(topology, levels, number, width))
    blocks += [_elsewhere(topology), _cores(topology), _sharing(levels)]
    blocks += [distance_lines(topology), gpu_lines(topology)]
    lines: list[str] = []
    for block in blocks:
        if block:
            lines += ["", *block]
    return lines[1:]


def short_list(numbers: Iterable[int]) -> str:
    """0-3,8; where every step is the same and the list is long, 0,2…78."""
    ordered = sorted(numbers)
    text = as_list(ordered)
    steps = {b - a for a, b in pairwise(ordered)}
    if len(text) <= _LONG or len(steps) != 1:
        return text
    return f"{ordered[0]},{ordered[1]}…{ordered[-1]}"


def card(device: Device) -> str:
    """Its name, other names and address: mlx5_0 (ib0, 0000:c1:00.0)."""
    more = [name for name in (*device.also, device.bus) if name and name != device.name]
    if not more:
        return device.name
    return f"{device.name} ({', '.join(more)})"


def cache_size(count: int) -> str:
    """The size of a cache as data sheets have it: 27.5 MiB, 1.25 MiB, 32 KiB."""
    if count >= 1 << 20:
        return f"{count / (1 << 20):g} MiB"
    return byte_count(count)


def numa_size(node: Numa) -> str:
    """The memory of a NUMA node."""
    if node.bytes:
        return memory(node.bytes)
    return "memory unknown"


def place_of(device: Device) -> str:
    """The PUs that a card is closest to."""
    if device.pus:
        return f"beside PU {short_list(device.pus)}"
    return "place unknown"


# --- head -----------------------------------------------------------------------------------
def _head(topology: Topology) -> list[str]:
    parts = [
        many(topology.packages, "socket"),
        many(topology.numa_nodes, "NUMA node") if topology.numa else "",
        many(len(_core_numbers(topology)), "core"),
        _threads(topology),
    ]
    total = sum(node.bytes or 0 for node in topology.numa)
    if total:
        parts.append(memory(total))
    names = dotted(topology.hostname, topology.cpu_model, topology.architecture)
    return [names, dotted(*parts)]


def _core_numbers(topology: Topology) -> set[int]:
    return {pu.core for pu in topology.pus}


def _threads(topology: Topology) -> str:
    most = topology.threads_per_core
    if most < 2:
        return ""
    if len(topology.pus) == most * len(_core_numbers(topology)):
        return f"{most} hardware threads each"
    return f"up to {most} hardware threads each"


def _excluded(topology: Topology) -> list[str]:
    """The PUs and memory that may not be used, and PUs whose place is unknown."""
    lines = []
    hidden = {pu.number for pu in topology.pus} - topology.allowed
    if hidden:
        lines.append(
            f"May be used: PU {as_list(topology.allowed)}. In brackets: "
            f"{many(len(hidden), 'PU')} that the cpuset or the affinity excludes."
        )
    if topology.left_out:
        lines.append(
            f"Left out: PU {as_list(topology.left_out)}, offline or not in the cpuset, at an "
            "unknown place."
        )
    foreign = {node.number for node in topology.numa} - topology.allowed_numa
    if foreign:
        lines.append(f"Memory of NUMA node {as_list(foreign)} may not be used.")
    return lines


# --- sockets --------------------------------------------------------------------------------
def _packages(topology: Topology) -> list[int]:
    return sorted({pu.package for pu in topology.pus})


def _socket(topology: Topology, levels: Levels, number: int, width: int) -> list[str]:
    pus = _pus_of(topology, number)
    cores = {pu.core for pu in topology.pus if pu.package == number}
    heads = [f"socket {number}", many(len(cores), "core")]
    for device in topology.devices:
        if device.pus == pus and _node_beside(topology, device) is None:
            heads.append(card(device))
    lines = ["  ".join(heads)]
    lonely = pus
    for node in topology.numa:
        if node.pus & pus:
            lines += _numa(topology, levels, node, pus, width)
            lonely -= node.pus
    if lonely:
        lines += ["  no NUMA node"] if topology.numa else []
        lines += _shared(topology, levels, lonely, width)
    return lines


def _pus_of(topology: Topology, package: int) -> Group:
    return frozenset(pu.number for pu in topology.pus if pu.package == package)


def _numa(topology: Topology, levels: Levels, node: Numa, within: Group, width: int) -> list[str]:
    heads = [f"NUMA {node.number}", numa_size(node)]
    for device in topology.devices:
        if _node_beside(topology, device) == node.number:
            heads.append(card(device))
    return ["  " + "  ".join(heads), *_shared(topology, levels, node.pus & within, width)]


def _shared(topology: Topology, levels: Levels, pus: Group, width: int) -> list[str]:
    """The groups of the last cache level that is shared, on as few lines as they need."""
    shown = _last_shared(levels, pus)
    if shown is None:
        return _filled("    cores  ", [_marked(topology, pus)], width)
    name, groups = shown
    words = []
    rest = pus
    for group in groups:
        words.append(_marked(topology, group & pus))
        rest -= group
    if rest:
        words.append(_marked(topology, rest))
    return _filled(f"    {name.upper()}{_sizes(topology, name, groups)}  ", words, width)


def _sizes(topology: Topology, name: str, groups: Sequence[Group]) -> str:
    """The sizes of the caches of this level that these groups share."""
    sizes = set()
    for cache in topology.caches:
        if _is(cache, name) and cache.pus in groups:
            sizes.add(cache.bytes)
    if not sizes:
        return ""
    words = [cache_size(size) for size in sorted(sizes)]
    return f" {' or '.join(words)}"


def _last_shared(levels: Levels, pus: Group) -> tuple[str, list[Group]] | None:
    """The last level of caches that PUs of several cores share, with who shares one."""
    for name in ("l4", "l3", "l2"):
        groups = [group for group in levels.groups.get(name, ()) if group & pus]
        for group in groups:
            cores = {levels.around[pu]["core"] for pu in group}
            if len(cores) > 1:
                return name, groups
    return None


def _is(cache: Cache, name: str) -> bool:
    return name == f"l{cache.level}" and cache.kind != "instruction"


def _marked(topology: Topology, pus: Group) -> str:
    """The PUs of a group, those that may not be used in brackets."""
    good, bad = pus & topology.allowed, pus - topology.allowed
    words = []
    if good:
        words.append(short_list(good))
    if bad:
        words.append(f"[{short_list(bad)}]")
    return " ".join(words)


def _filled(start: str, words: Sequence[str], width: int) -> list[str]:
    """The words in columns of the same width behind `start`."""
    wide = max(map(len, words))
    per_line = max(1, (width - len(start) + 3) // (wide + 3))
    lines, head = [], start
    for first in range(0, len(words), per_line):
        chunk = words[first : first + per_line]
        lines.append(head + left_aligned(chunk, [wide] * len(chunk), " | "))
        head = " " * len(start)
    return lines


def _node_beside(topology: Topology, device: Device) -> int | None:
    """The NUMA node with cores that a card is beside."""
    for node in topology.numa:
        if node.number == device.numa and node.pus:
            return device.numa
    return None


# --- below ----------------------------------------------------------------------------------
def _elsewhere(topology: Topology) -> list[str]:
    """Memory without cores, and cards that are beside no one NUMA node or socket."""
    lines = []
    for node in topology.numa:
        if not node.pus:
            lines.append(f"NUMA {node.number}  {numa_size(node)}  no cores")
    sockets = [_pus_of(topology, number) for number in _packages(topology)]
    for device in topology.devices:
        if _node_beside(topology, device) is None and device.pus not in sockets:
            lines.append(f"{card(device)}  {place_of(device)}")
    return lines


def _cores(topology: Topology) -> list[str]:
    """The caches that belong to one core or to few: one line for each kind of core."""
    core_of = {pu.number: pu.core for pu in topology.pus}
    by_kind: dict[tuple[str, ...], list[Pu]] = {}
    for pu in topology.pus:
        words = [pu.kind]
        if pu.capacity and _uneven(topology):
            words.append(f"speed {pu.capacity}")
        for cache in topology.caches:
            if pu.number in cache.pus and cache.level < 3:
                words.append(_cache_words(cache, core_of))
        by_kind.setdefault(tuple(words), []).append(pu)
    lines = []
    for kind, pus in by_kind.items():
        about = with_commas(*kind)
        if about:
            who = "each core" if len(by_kind) == 1 else f"PU {short_list(pu.number for pu in pus)}"
            lines.append(f"{who}: {about}")
    return lines


def _cache_words(cache: Cache, core_of: dict[int, int]) -> str:
    cores = len({core_of[pu] for pu in cache.pus if pu in core_of})
    words = f"L{cache.level}{_KINDS.get(cache.kind, '')} {cache_size(cache.bytes)}"
    if cores > 1:
        return f"{words} for {cores} cores"
    return words


def _uneven(topology: Topology) -> bool:
    return len({pu.capacity for pu in topology.pus}) > 1


def _sharing(levels: Levels) -> list[str]:
    """The distances of two cores, and the number of pairs at each."""
    shared = levels.shared()
    if not shared:
        return ["There are no two cores that may be used, so no pair of ranks can be placed."]
    lines = ["Distances of two ranks, and the number of pairs of cores at each (--place):"]
    wide, broad = len(str(max(shared.values()))), max(6, *map(len, shared))
    for name, count in shared.items():
        lines.append(f"  {name:<{broad}}  {count:>{wide}}  {MEANING[name]}")
    return lines


def distance_lines(topology: Topology) -> list[str]:
    """The matrix of distances between NUMA nodes; empty where the machine does not report it."""
    if not topology.distances:
        return []
    numbers = [node.number for node in topology.numa]
    wide = len(str(max(*numbers, *map(max, topology.distances))))
    lines = ["Distances between NUMA nodes, as the firmware reports them (10: the node itself):"]
    lines.append(" " * (wide + 4) + _padded(numbers, wide))
    for number, row in zip(numbers, topology.distances, strict=True):
        lines.append(f"  {number:>{wide}}  {_padded(row, wide)}")
    return lines


def _padded(numbers: Sequence[int], wide: int) -> str:
    return " ".join(f"{number:>{wide}}" for number in numbers)
