# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The topology of a machine, measured here or read from a file, for placements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Pu:
    """One hardware thread, which the kernel calls a CPU."""

    number: int
    core: int
    """Its physical core, numbered over the whole machine in the order of first PUs."""
    package: int
    numa: int | None
    """Its NUMA node; None: the machine reports none, as for a node outside of the cpuset."""
    capacity: int | None
    """The kernel's relative speed of this PU (1024: the fastest); None if all cores are alike."""
    kind: str = ""
    """The machine's name for such a core, if there are several kinds."""


@dataclass(frozen=True)
class Cache:
    level: int
    kind: str
    """data, instruction or unified."""
    bytes: int
    pus: frozenset[int]
    """The PUs that share it."""


@dataclass(frozen=True)
class Numa:
    """A NUMA node."""

    number: int
    bytes: int | None
    """Its memory; None: the machine does not report it."""
    pus: frozenset[int]
    """The PUs local to it; none for memory of a GPU, or for CPU-less memory."""


@dataclass(frozen=True)
class Device:
    """A network card or a GPU, and its location."""

    name: str
    also: tuple[str, ...]
    """Other names of the same card: the network device of an InfiniBand card."""
    kind: Literal["network", "gpu"]
    fabric: bool
    """True if it is a network for which MPI libraries have native drivers."""
    bus: str
    """Its PCI address; empty: it has none."""
    pus: frozenset[int]
    """The PUs local to it; empty: the machine does not report them."""
    numa: int | None
    """The NUMA node local to it; None: the machine does not report it, or there are several."""
    bridges: tuple[str, ...] = ()
    """The host bridge and the PCI bridges above it, from the root; empty: not recorded."""
    vendor: str = ""
    """A GPU's PCI vendor, such as 10de; empty: not recorded."""
    model: str = ""
    """A GPU's product name, as its driver reports it; empty: the driver does not list the GPU."""
    uuid: str = ""
    """A GPU's UUID; empty: its driver does not report it."""
    link: str = ""
    """A GPU's PCIe link now, such as 16.0 GT/s x16; empty: not recorded."""
    link_max: str = ""
    """The fastest and widest link that the GPU supports."""


@dataclass(frozen=True, kw_only=True)
class Topology:
    """Packages, NUMA nodes, caches, cores and cards, and which of them may be used."""

    hostname: str
    architecture: str
    cpu_model: str
    pus: tuple[Pu, ...]
    """All online PUs whose location is known."""
    caches: tuple[Cache, ...]
    numa: tuple[Numa, ...]
    """NUMA nodes in the order of their numbers."""
    distances: tuple[tuple[int, ...], ...]
    """Distances between NUMA nodes in the order of `numa`, as the firmware reports them (10:
    itself); empty: it does not."""
    devices: tuple[Device, ...]
    """Network cards before GPUs, fabrics before other networks."""
    allowed: frozenset[int]
    """The PUs that this process may use, by its affinity and thus its cpuset."""
    allowed_numa: frozenset[int]
    """The NUMA nodes whose memory may be used."""
    left_out: frozenset[int]
    """PUs that are offline, or that a file omits because they may not be used."""

    @property
    def usable(self) -> tuple[Pu, ...]:
        return tuple(pu for pu in self.pus if pu.number in self.allowed)

    @property
    def cores(self) -> int:
        """The number of physical cores with at least one usable PU."""
        return len({pu.core for pu in self.usable})

    @property
    def packages(self) -> int:
        return len({pu.package for pu in self.pus})

    @property
    def numa_nodes(self) -> int:
        """The number of NUMA nodes, including those that are only memory."""
        return len(self.numa)

    @property
    def threads_per_core(self) -> int:
        cores = [pu.core for pu in self.pus]
        return max((cores.count(core) for core in set(cores)), default=1)

    def pu(self, number: int) -> Pu | None:
        return next((pu for pu in self.pus if pu.number == number), None)
