# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""An MPI: a library to open, a launcher to start it with, headers to build with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Abi = Literal["mpich", "ompi", "std"]
Launcher = Literal["hydra", "openmpi", "srun"]
"""The default launcher of an MPI; srun for an MPI without a launcher of its own, such as Cray's."""


MADE_FROM = {"mvapich": "mpich", "cray-mpich": "mpich", "spectrum": "openmpi"}
"""MPIs derived from another, with most of its settings; their files are their own."""


def kind_of(name: str) -> str:
    """The kind of an MPI by its name: that of the MPI which it is derived from, else its own."""
    return MADE_FROM.get(name, name)


@dataclass(frozen=True)
class Mpi:
    name: str
    """mpich, openmpi, intel, mvapich, …"""
    version: str
    standard: str
    """The MPI standard that the library reports, for example 4.1."""
    library: Path
    """The versioned file, for example libmpi.so.12: libmpi.so may be a linker script."""
    library_string: str
    abi: Abi
    launcher: Launcher
    mpiexec: Path
    prefix: Path
    include: Path | None
    """The folder of its mpi.h (mpi_abi.h for the standard ABI); None: the MPI has none."""
    env: Mapping[str, str] = field(hash=False)
    """Environment variables that its processes need in addition to the current environment."""
    found: str
    """A description of where it was found."""
    again: str = ""
    """The argument of --mpi that selects it again, if the path of its launcher alone does not."""

    @property
    def label(self) -> str:
        """Name and version as shown to people, with the standard ABI marked."""
        return f"{self.name} {self.version}" + (" (standard ABI)" if self.abi == "std" else "")

    @property
    def spec(self) -> str:
        """The argument of --mpi that selects this MPI again."""
        return (self.again or str(self.mpiexec)) + ("@std" if self.abi == "std" else "")


@dataclass(frozen=True)
class KernelBuild:
    """The sources, compiler and flags that kernels were built from."""

    sources: str
    """Digest of their sources."""
    compiler: str
    """The first line of its version output."""
    flags: str
    """Flags that the user added to the default ones."""
    machine: str
    """x86_64, aarch64, …"""
    libc: str
    """The oldest C library that they run with: glibc 2.36."""

    @property
    def words(self) -> str:
        flags = f" {self.flags}" if self.flags else ""
        return f"{self.compiler}{flags}, sources {self.sources}"


@dataclass(frozen=True)
class Kernels:
    """The result of a build: the host program, the plugin for one ABI, and the cards."""

    executable: Path
    plugin: Path
    cards: Path
    origin: str = ""
    """A description of where they are from."""
    build: KernelBuild | None = None
    """The record of the build; None: the kernels have none."""
