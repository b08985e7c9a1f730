# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a machine is, as far as it matters for times between its ranks."""

from __future__ import annotations

from dataclasses import dataclass

from mpigauge.model.topology import Topology


@dataclass(frozen=True, kw_only=True)
class Machine(Topology):
    """How it is built, and the state that it is in."""

    kernel: str
    """The release of the operating system, as `uname -r` prints it."""
    kernel_version: str
    """The build of that release, as `uname -v` prints it; empty where it was not recorded."""
    microcode: str
    """Version of the processors' microcode; empty where the machine does not tell."""
    drivers: tuple[str, ...]
    """Kernel drivers of network cards, each with its version where it tells one."""
    hypervisor: bool
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
    def memory_bytes(self) -> int:
        """What can be allocated now."""
        limit = self.memory_limit_bytes
        available = self.memory_available_bytes
        if limit is None:
            return available
        return min(available, limit)
