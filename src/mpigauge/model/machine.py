# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a machine is, as far as it matters for times between its ranks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pu:
    """One hardware thread: what the kernel calls a CPU."""

    number: int
    core: int
    """Its physical core, numbered over the whole machine in the order of first PUs."""
    package: int
    numa: int
    capacity: int | None
    """The kernel's relative speed of this PU (1024: the fastest), where cores differ."""


@dataclass(frozen=True)
class Cache:
    level: int
    kind: str
    """data, instruction or unified"""
    bytes: int
    pus: frozenset[int]
    """The PUs that share it."""


@dataclass(frozen=True)
class Machine:
    hostname: str
    architecture: str
    kernel: str
    cpu_model: str
    hypervisor: bool
    pus: tuple[Pu, ...]
    """All PUs that are online."""
    caches: tuple[Cache, ...]
    allowed: frozenset[int]
    """The PUs that this process may use (its affinity, and so its cpuset)."""
    isolated: frozenset[int]
    """PUs that the kernel's scheduler leaves alone."""
    cpu_quota: float | None
    """How many CPUs' worth of time the cgroup allows."""
    memory_limit_bytes: int | None
    """What the cgroup allows."""
    memory_total_bytes: int
    memory_available_bytes: int
    governors: tuple[str, ...]
    """Frequency governors of the allowed PUs; empty where there is no such choice."""
    turbo: bool | None
    transparent_hugepages: str | None
    numa_balancing: bool | None
    clocksource: str | None
    load: tuple[float, float, float]
    steal_ratio: float
    """Share of the CPU time since boot that a hypervisor gave to others."""

    @property
    def usable(self) -> tuple[Pu, ...]:
        return tuple(pu for pu in self.pus if pu.number in self.allowed)

    @property
    def cores(self) -> int:
        """Physical cores of which at least one PU may be used."""
        return len({pu.core for pu in self.usable})

    @property
    def packages(self) -> int:
        return len({pu.package for pu in self.pus})

    @property
    def numa_nodes(self) -> int:
        return len({pu.numa for pu in self.pus})

    @property
    def threads_per_core(self) -> int:
        cores = [pu.core for pu in self.pus]
        return max((cores.count(core) for core in set(cores)), default=1)

    @property
    def memory_bytes(self) -> int:
        """What can be allocated now."""
        limit = self.memory_limit_bytes
        available = self.memory_available_bytes
        return available if limit is None else min(available, limit)
