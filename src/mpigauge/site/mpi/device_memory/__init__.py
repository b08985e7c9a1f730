# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The needs of each MPI for memory of a GPU: settings, and the libraries that they name.

An MPI is one file in this folder with `@device_memory_of("name")` over a function from the MPI and
the CUDA libraries of this host to its support. There is no list to edit.
"""

from __future__ import annotations

from mpigauge.site.mpi.device_memory.awareness import CallTrial, latest_trials, trials_of
from mpigauge.site.mpi.device_memory.libraries import CudaLibraries, cuda_libraries
from mpigauge.site.mpi.device_memory.on_gpus import MpiOnGpus, on_gpus
from mpigauge.site.mpi.device_memory.query import LibraryReport, ask_library
from mpigauge.site.mpi.device_memory.registry import Support
from mpigauge.site.mpi.device_memory.settings import device_settings, support_of

__all__ = [
    "CallTrial",
    "CudaLibraries",
    "LibraryReport",
    "MpiOnGpus",
    "Support",
    "ask_library",
    "cuda_libraries",
    "device_settings",
    "latest_trials",
    "on_gpus",
    "support_of",
    "trials_of",
]
