# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of each MPI's support of device memory, a file of this folder each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.model.registry import Registry

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi
    from mpigauge.site.mpi.device_memory.libraries import CudaLibraries


@dataclass(frozen=True)
class Support:
    """The way in which an MPI can accept device memory, as far as its files show it."""

    through: str
    """The part of the MPI that handles device memory, in words; empty: none."""
    settings: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The settings that enable it."""
    remedy: str = ""
    """The way to an MPI with support; empty: nothing is missing."""
    is_known: bool = True
    """False if nothing here knows how this MPI supports device memory."""


GetSupport = Callable[["Mpi", "CudaLibraries"], Support]
SUPPORT = Registry[GetSupport]("support of device memory", __name__.rpartition(".")[0])


def device_memory_of(*mpis: str) -> Callable[[GetSupport], GetSupport]:
    """Registers a function that describes the support of MPIs of these names."""

    def register(function: GetSupport) -> GetSupport:
        for name in mpis:
            SUPPORT.add(name, function)
        return function

    return register
