# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How a machine is built, on a page: sockets, NUMA nodes, caches, cores, cards, distances."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.units import byte_count, many, memory
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
    blocks = [
        _head(topology),
        _excluded(topology),
        *(_socket(topology, levels, number, width) for number in _packages(topology)),
        _elsewhere(topology),
        _cores(topology),
        _sharing(levels),
        _distances(topology),
    ]
    return [line for block in blocks if block for line in ("", *block)][1:]


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
    return f"{device.name} ({', '.join(more)})" if more else device.name


def cache_size(count: int) -> str:
    """As data sheets have it: 27.5 MiB, 1.25 MiB, 32 KiB."""
    return f"{count / (1 << 20):g} MiB" if count >= 1 << 20 else byte_count(count)


# --- head -----------------------------------------------------------------------------------
def _head(topology: Topology) -> list[str]:
    cores = len({pu.core for pu in topology.pus})
    total = sum(node.bytes or 0 for node in topology.numa)
    words = [
        many(topology.packages, "socket"),
        many(topology.numa_nodes, "NUMA node"),
        many(cores, "core"),
        _threads(topology),
        memory(total) if total else "",
    ]
    names = [topology.hostname, topology.cpu_model, topology.architecture]
    return [" · ".join(filter(None, line)) for line in (names, words)]


def _threads(topology: Topology) -> str:
    most = topology.threads_per_core
    if most < 2:
        return ""
    even = len(topology.pus) == most * len({pu.core for pu in topology.pus})
    return f"{'' if even else 'up to '}{most} hardware threads each"


def _excluded(topology: Topology) -> list[str]:
    """What may not be used, and what nothing is known of."""
    lines = []
    hidden = {pu.number for pu in topology.pus} - topology.allowed
    if hidden:
        lines.append(
            f"May be used: PU {as_list(topology.allowed)}. In brackets: "
            f"{many(len(hidden), 'PU')} that the cpuset or the affinity excludes."
        )
    if topology.left_out:
        lines.append(
            f"Left out: PU {as_list(topology.left_out)}, offline or not in the cpuset; where they "
            "sit is not told."
        )
    foreign = {node.number for node in topology.numa} - topology.allowed_numa
    if foreign:
        lines.append(f"Memory of NUMA node {as_list(foreign)} may not be used.")
    return lines


# --- sockets --------------------------------------------------------------------------------
def _packages(topology: Topology) -> list[int]:
    return sorted({pu.package for pu in topology.pus})


def _socket(topology: Topology, levels: Levels, number: int, width: int) -> list[str]:
    pus = frozenset(pu.number for pu in topology.pus if pu.package == number)
    cores = len({pu.core for pu in topology.pus if pu.package == number})
    cards = [d for d in topology.devices if d.pus == pus and _node_beside(topology, d) is None]
    lines = [_joined(f"socket {number}", many(cores, "core"), *map(card, cards))]
    inside = [node for node in topology.numa if node.pus & pus]
    for node in inside:
        lines += _numa(topology, levels, node, pus, width)
    lonely = pus - frozenset[int]().union(*(node.pus for node in inside))
    return lines + (_shared(topology, levels, lonely, width) if lonely else [])


def _numa(topology: Topology, levels: Levels, node: Numa, within: Group, width: int) -> list[str]:
    beside = [d for d in topology.devices if _node_beside(topology, d) == node.number]
    amount = memory(node.bytes) if node.bytes else "memory unknown"
    first = "  " + _joined(f"NUMA {node.number}", amount, *map(card, beside))
    return [first, *_shared(topology, levels, node.pus & within, width)]


def _shared(topology: Topology, levels: Levels, pus: Group, width: int) -> list[str]:
    """The groups of the last cache level that is shared, on as few lines as they need."""
    shown = _last_shared(levels, pus)
    if shown is None:
        return _filled("    cores  ", [_marked(topology, pus)], width)
    name, groups = shown
    sizes = {cache.bytes for cache in topology.caches if _is(cache, name) and cache.pus in groups}
    size = f" {' or '.join(map(cache_size, sorted(sizes)))}" if sizes else ""
    words = [_marked(topology, group & pus) for group in groups]
    rest = pus - frozenset[int]().union(*groups)
    words += [_marked(topology, rest)] if rest else []
    return _filled(f"    {name.upper()}{size}  ", words, width)


def _last_shared(levels: Levels, pus: Group) -> tuple[str, list[Group]] | None:
    for name in ("l4", "l3", "l2"):
        groups = [group for group in levels.groups.get(name, ()) if group & pus]
        if any(len({levels.around[pu]["core"] for pu in group}) > 1 for group in groups):
            return name, groups
    return None


def _is(cache: Cache, name: str) -> bool:
    return name == f"l{cache.level}" and cache.kind != "instruction"


def _marked(topology: Topology, pus: Group) -> str:
    """The PUs of a group, those that may not be used in brackets."""
    good, bad = pus & topology.allowed, pus - topology.allowed
    return " ".join(
        [*([short_list(good)] if good else []), *([f"[{short_list(bad)}]"] if bad else [])]
    )


def _filled(start: str, words: Sequence[str], width: int) -> list[str]:
    """The words in columns of the same width behind `start`."""
    wide = max(map(len, words))
    per_line = max(1, (width - len(start) + 3) // (wide + 3))
    chunks = [words[i : i + per_line] for i in range(0, len(words), per_line)]
    heads = [start, *[" " * len(start)] * len(chunks)]
    return [
        head + " | ".join(f"{word:<{wide}}" for word in chunk).rstrip()
        for head, chunk in zip(heads, chunks, strict=False)
    ]


def _node_beside(topology: Topology, device: Device) -> int | None:
    return device.numa if any(n.number == device.numa and n.pus for n in topology.numa) else None


# --- below ----------------------------------------------------------------------------------
def _elsewhere(topology: Topology) -> list[str]:
    """Memory without cores, and cards that are beside no one NUMA node or socket."""
    lines = [
        f"NUMA {node.number}  {memory(node.bytes) if node.bytes else 'memory unknown'}  no cores"
        for node in topology.numa
        if not node.pus
    ]
    sockets = [
        frozenset(pu.number for pu in topology.pus if pu.package == number)
        for number in _packages(topology)
    ]
    for device in topology.devices:
        if _node_beside(topology, device) is None and device.pus not in sockets:
            where = f"beside PU {short_list(device.pus)}" if device.pus else "place unknown"
            lines.append(f"{card(device)}  {where}")
    return lines


def _cores(topology: Topology) -> list[str]:
    """What belongs to a core alone or to few: one line for each kind of core."""
    core_of = {pu.number: pu.core for pu in topology.pus}
    found: dict[tuple[str, ...], list[Pu]] = {}
    for pu in topology.pus:
        own = [cache for cache in topology.caches if pu.number in cache.pus and cache.level < 3]
        words = [_cache_words(cache, core_of) for cache in own]
        speed = f"speed {pu.capacity}" if pu.capacity and _uneven(topology) else ""
        found.setdefault((pu.kind, speed, *words), []).append(pu)
    lines = []
    for kind, pus in found.items():
        who = "each core" if len(found) == 1 else f"PU {short_list(pu.number for pu in pus)}"
        said = [word for word in kind if word]
        lines += [f"{who}: {', '.join(said)}"] if said else []
    return lines


def _cache_words(cache: Cache, core_of: dict[int, int]) -> str:
    cores = len({core_of[pu] for pu in cache.pus if pu in core_of})
    shared = f" for {cores} cores" if cores > 1 else ""
    return f"L{cache.level}{_KINDS.get(cache.kind, '')} {cache_size(cache.bytes)}{shared}"


def _uneven(topology: Topology) -> bool:
    return len({pu.capacity for pu in topology.pus}) > 1


def _sharing(levels: Levels) -> list[str]:
    """The distinct ways in which two ranks can sit to each other."""
    shared = levels.shared()
    if not shared:
        return ["There are no two cores that may be used, so no pair of ranks can be placed."]
    lines = ["What two ranks share at the closest, and how many pairs of cores do (--place):"]
    wide = max(len(str(count)) for count in shared.values())
    return lines + [f"  {name:<6}  {n:>{wide}}  {MEANING[name]}" for name, n in shared.items()]


def _distances(topology: Topology) -> list[str]:
    if len(topology.distances) < 2:
        return []
    numbers = [node.number for node in topology.numa]
    wide = max(len(str(n)) for row in (numbers, *topology.distances) for n in row)
    lines = ["Distances from NUMA node to NUMA node, as the firmware tells them:"]
    lines.append(" " * (wide + 4) + " ".join(f"{n:>{wide}}" for n in numbers))
    for number, row in zip(numbers, topology.distances, strict=True):
        lines.append(f"  {number:>{wide}}  " + " ".join(f"{n:>{wide}}" for n in row))
    return lines


def _joined(*words: str) -> str:
    return "  ".join(filter(None, words))
