# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How a machine is built: what placements are made on, whether it is this one or only a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Pu:
    """One hardware thread: what the kernel calls a CPU."""

    number: int
    core: int
    """Its physical core, numbered over the whole machine in the order of first PUs."""
    package: int
    numa: int | None
    """Its NUMA node; None: the machine names none, as for a node outside of the cpuset."""
    capacity: int | None
    """The kernel's relative speed of this PU (1024: the fastest), where cores differ."""
    kind: str = ""
    """What the machine calls such a core, where there are several kinds."""


@dataclass(frozen=True)
class Cache:
    level: int
    kind: str
    """data, instruction or unified"""
    bytes: int
    pus: frozenset[int]
    """The PUs that share it."""


@dataclass(frozen=True)
class Numa:
    """A NUMA node."""

    number: int
    bytes: int | None
    """Its memory, where the machine tells."""
    pus: frozenset[int]
    """The PUs beside it; none beside memory of a GPU, or memory that is only far."""


@dataclass(frozen=True)
class Device:
    """A network card or a GPU, and where it sits."""

    name: str
    also: tuple[str, ...]
    """Other names of the same card: the network device of an InfiniBand card."""
    kind: Literal["network", "gpu"]
    fabric: bool
    """Whether it is a network that MPI libraries have drivers of their own for."""
    bus: str
    """Its PCI address; empty where it has none."""
    pus: frozenset[int]
    """The PUs beside it; none where the machine does not tell."""
    numa: int | None
    """The NUMA node beside it; None where the machine does not tell, or it is beside several."""


@dataclass(frozen=True, kw_only=True)
class Topology:
    """Packages, NUMA nodes, caches, cores and cards, and which of them may be used."""

    hostname: str
    architecture: str
    cpu_model: str
    pus: tuple[Pu, ...]
    """All PUs that are online and of which the place is known."""
    caches: tuple[Cache, ...]
    numa: tuple[Numa, ...]
    """In the order of their numbers."""
    distances: tuple[tuple[int, ...], ...]
    """From NUMA node to NUMA node in the order of `numa`, as the firmware says it (10: itself);
    empty where it does not."""
    devices: tuple[Device, ...]
    """Network cards before GPUs, fabrics before other networks."""
    allowed: frozenset[int]
    """The PUs that may be used: of this process, its affinity and so its cpuset."""
    allowed_numa: frozenset[int]
    """The NUMA nodes whose memory may be used."""
    left_out: frozenset[int]
    """PUs that are there, but offline, or that a file leaves out because they may not be used."""

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
        """NUMA nodes, also those that are only memory."""
        return len(self.numa)

    @property
    def threads_per_core(self) -> int:
        cores = [pu.core for pu in self.pus]
        return max((cores.count(core) for core in set(cores)), default=1)

    def pu(self, number: int) -> Pu | None:
        return next((pu for pu in self.pus if pu.number == number), None)
