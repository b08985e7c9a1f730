# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which cores to measure on, and how much memory leaves their caches cold."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.model.machine import Cache, Machine, Pu

UNKNOWN_CACHE_BYTES = 64 << 20
"""Assumed per rank where the machine does not tell its caches."""


def cores_to_use(machine: Machine, ranks: int | None = None) -> tuple[int, ...]:
    """One PU on each of the first cores that may be used; package after package.

    No more than there are cores: whoever wants more ranks than that has to share them out.
    """
    first: dict[int, Pu] = {}
    for pu in machine.usable:
        first.setdefault(pu.core, pu)
    chosen = sorted(first.values(), key=lambda pu: (pu.package, pu.numa, pu.number))
    return tuple(pu.number for pu in chosen[:ranks])


def cold_bytes(machine: Machine, ranks: int) -> int:
    """What each of so many ranks has to go through so that its caches forget it.

    That is what is in its own caches, and its share of those that it shares with the others.
    """
    pus = cores_to_use(machine, ranks)
    crowd = -(-ranks // max(1, len(pus)))
    held = [sum(_share(cache, pus, crowd) for cache in _above(machine, pu)) for pu in pus]
    return max(held, default=0) or UNKNOWN_CACHE_BYTES


def _above(machine: Machine, pu: int) -> list[Cache]:
    return [cache for cache in machine.caches if pu in cache.pus and cache.kind != "instruction"]


def _share(cache: Cache, pus: tuple[int, ...], crowd: int) -> int:
    sharers = len(cache.pus.intersection(pus)) * crowd
    return -(-cache.bytes // sharers)
