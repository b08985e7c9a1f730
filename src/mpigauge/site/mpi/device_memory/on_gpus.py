# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""All about an MPI and the memory of this host's GPUs: libraries, settings, trials."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from mpigauge.model.mpi import Mpi
from mpigauge.site.mpi.device_memory.awareness import CallTrial, trials_of
from mpigauge.site.mpi.device_memory.libraries import CudaLibraries, cuda_libraries
from mpigauge.site.mpi.device_memory.query import LibraryReport, ask_library
from mpigauge.site.mpi.device_memory.registry import Support
from mpigauge.site.mpi.device_memory.settings import support_of


@dataclass(frozen=True)
class MpiOnGpus:
    """An MPI, and what it needs to accept device memory here."""

    mpi: Mpi
    libraries: CudaLibraries
    support: Support
    report: LibraryReport
    """The driver's own report; empty: there is no driver."""
    trials: tuple[CallTrial, ...] = ()
    """The trials of its calls with device memory, the latest last."""
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The environment in which programs would start."""


def on_gpus(mpi: Mpi) -> MpiOnGpus:
    """Returns what this MPI would find here. The driver is asked only if there is one."""
    libraries = cuda_libraries(mpi)
    support = support_of(mpi, libraries)
    if libraries.driver is None:
        return MpiOnGpus(mpi, libraries, support, LibraryReport(), (), os.environ)
    trials = trials_of(mpi, str(libraries.driver))
    return MpiOnGpus(mpi, libraries, support, ask_library(libraries.driver), trials, os.environ)
