# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The cores to measure on, and the memory that flushes their caches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.site.topology.levels import Levels

if TYPE_CHECKING:
    from mpigauge.model.topology import Cache, Topology

UNKNOWN_CACHE_BYTES = 64 << 20
"""The cache size assumed per rank if the machine reports no caches."""


def cores_to_use(machine: Topology, ranks: int | None = None) -> tuple[int, ...]:
    """Returns one PU on each of the first usable cores, in the order of the tree.

    There are never more than cores: more ranks than that must share them.
    """
    return tuple(pu.number for pu in Levels.of(machine).cores()[:ranks])


def cold_bytes(machine: Topology, ranks: int) -> int:
    """Returns the number of bytes that each rank must read to flush its caches.

    This is the size of its own caches plus its share of those that it shares with other ranks.
    """
    pus = cores_to_use(machine, ranks)
    crowd = -(-ranks // max(1, len(pus)))
    held = [sum(_share(cache, pus, crowd) for cache in _above(machine, pu)) for pu in pus]
    return max(held, default=0) or UNKNOWN_CACHE_BYTES


def _above(machine: Topology, pu: int) -> list[Cache]:
    return [cache for cache in machine.caches if pu in cache.pus and cache.kind != "instruction"]


def _share(cache: Cache, pus: tuple[int, ...], crowd: int) -> int:
    sharers = len(cache.pus.intersection(pus)) * crowd
    return -(-cache.bytes // sharers)
