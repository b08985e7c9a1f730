# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which cores to measure on, and how much memory leaves their caches cold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.site.topology.levels import Levels

if TYPE_CHECKING:
    from mpigauge.model.topology import Cache, Topology

UNKNOWN_CACHE_BYTES = 64 << 20
"""Assumed per rank where the machine does not tell its caches."""


def cores_to_use(machine: Topology, ranks: int | None = None) -> tuple[int, ...]:
    """One PU on each of the first cores that may be used; neighbours beside each other.

    No more than there are cores: whoever wants more ranks than that has to share them out.
    """
    return tuple(pu.number for pu in Levels.of(machine).cores()[:ranks])


def cold_bytes(machine: Topology, ranks: int) -> int:
    """What each of so many ranks has to go through so that its caches forget it.

    That is what is in its own caches, and its share of those that it shares with the others.
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
