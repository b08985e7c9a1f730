# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Open MPI: by UCX with its module for CUDA, or by what it was built with.

With UCX alone, messages between two ranks may be in device memory. Calls that copy or reduce on
their own need an Open MPI that was built with CUDA, which a trial shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.site.mpi.device_memory.registry import Support, device_memory_of
from mpigauge.site.mpi.transports.openmpi import UCX

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi
    from mpigauge.site.mpi.device_memory.libraries import CudaLibraries


@device_memory_of("openmpi")
def support(mpi: Mpi, cuda: CudaLibraries) -> Support:
    if cuda.ucx is None:
        if cuda.built_in:
            return Support("its own components for CUDA")
        return Support("", {}, "`mpigauge mpi install openmpi --cuda` installs one with CUDA")
    settings = dict(UCX)
    if not cuda.ucx_by_default:
        paths = [str(cuda.ucx), mpi.env.get("LD_LIBRARY_PATH", "")]
        settings["LD_LIBRARY_PATH"] = ":".join(filter(None, paths))
    return Support("UCX with CUDA", settings)
