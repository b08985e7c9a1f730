# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A machine, as far as it affects times between its ranks."""

from __future__ import annotations

from dataclasses import dataclass

from mpigauge.model.topology import Topology


@dataclass(frozen=True, kw_only=True)
class Machine(Topology):
    """The topology of a machine, and its current state."""

    kernel: str
    """The release of the operating system, as `uname -r` prints it."""
    kernel_version: str
    """The build of that release, as `uname -v` prints it; empty where it was not recorded."""
    microcode: str
    """Version of the processors' microcode; empty: the machine does not report it."""
    drivers: tuple[str, ...]
    """Kernel drivers of network cards and GPUs, each with its version if it reports one."""
    hypervisor: bool
    isolated: frozenset[int]
    """PUs that the kernel's scheduler does not use (isolcpus)."""
    cpu_quota: float | None
    """The CPU time that the cgroup allows, in CPUs; None: no limit."""
    memory_limit_bytes: int | None
    """The memory that the cgroup allows; None: no limit."""
    memory_total_bytes: int
    memory_available_bytes: int
    governors: tuple[str, ...]
    """Frequency governors of the allowed PUs; empty: there is no such choice."""
    turbo: bool | None
    transparent_hugepages: str | None
    numa_balancing: bool | None
    clocksource: str | None
    load: tuple[float, float, float]
    steal_ratio: float
    """Share of the CPU time since boot that the hypervisor gave to other guests."""

    @property
    def memory_bytes(self) -> int:
        """The memory that can be allocated now, in bytes."""
        limit = self.memory_limit_bytes
        available = self.memory_available_bytes
        if limit is None:
            return available
        return min(available, limit)
