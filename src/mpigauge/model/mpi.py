# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What an MPI is to us: a library to open, a launcher to start it with, headers to build with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Abi = Literal["mpich", "ompi", "std"]
Launcher = Literal["hydra", "openmpi", "srun"]
"""What an MPI is started with unless another is named; srun where it brings none, as Cray's."""


MADE_FROM = {"mvapich": "mpich", "cray-mpich": "mpich", "spectrum": "openmpi"}
"""MPIs that were made from another, and have most of its settings; their files are their own."""


def kind_of(name: str) -> str:
    """The kind of an MPI by its name: that of the MPI which it was made from, else its own."""
    return MADE_FROM.get(name, name)


@dataclass(frozen=True)
class Mpi:
    name: str
    """mpich, openmpi, intel, mvapich, …"""
    version: str
    standard: str
    """The MPI standard that the library says it implements, for example 4.1."""
    library: Path
    """The versioned file, for example libmpi.so.12: libmpi.so may be a linker script."""
    library_string: str
    abi: Abi
    launcher: Launcher
    mpiexec: Path
    prefix: Path
    include: Path | None
    """Where its mpi.h is (mpi_abi.h for the standard ABI); some MPIs bring none."""
    env: Mapping[str, str] = field(hash=False)
    """What its processes need in their environment on top of ours."""
    found: str
    """Where it was found, in words."""
    again: str = ""
    """What finds it again with --mpi, where its launcher alone does not."""

    @property
    def label(self) -> str:
        """Name and version as shown to people; the standard ABI is worth a word."""
        return f"{self.name} {self.version}" + (" (standard ABI)" if self.abi == "std" else "")

    @property
    def spec(self) -> str:
        """What finds this MPI again when it is given to --mpi."""
        return (self.again or str(self.mpiexec)) + ("@std" if self.abi == "std" else "")


@dataclass(frozen=True)
class KernelBuild:
    """What kernels were made of and by what."""

    sources: str
    """Digest of their sources."""
    compiler: str
    """What it says of itself."""
    flags: str
    """Those that were asked for beside our own."""
    machine: str
    """x86_64, aarch64, …"""
    libc: str
    """The oldest that they run with: glibc 2.36."""

    @property
    def words(self) -> str:
        flags = f" {self.flags}" if self.flags else ""
        return f"{self.compiler}{flags}, sources {self.sources}"


@dataclass(frozen=True)
class Kernels:
    """What a build gives: the host program, the plugin for one ABI, and the cards."""

    executable: Path
    plugin: Path
    cards: Path
    origin: str = ""
    """Where they are from, in words."""
    build: KernelBuild | None = None
    """None: they do not say how they were made."""
