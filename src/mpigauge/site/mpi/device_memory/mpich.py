# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""MPICH: only if it was built with CUDA."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.site.mpi.device_memory.registry import Support, device_memory_of

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi
    from mpigauge.site.mpi.device_memory.libraries import CudaLibraries

_BUILT = re.compile(r"--with-cuda(?:=(?!no\b)\S+)?(?=['\s]|$)")
"""The option of configure, which MPICH reports with its version."""


@device_memory_of("mpich")
def support(mpi: Mpi, cuda: CudaLibraries) -> Support:
    del cuda
    if not _BUILT.search(mpi.library_string):
        return Support("", {}, "it was built without CUDA; build it with --with-cuda=DIR")
    return Support("its own code for CUDA", {"MPIR_CVAR_ENABLE_GPU": "1"})
