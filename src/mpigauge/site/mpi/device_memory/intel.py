# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Intel MPI: code of its own above the driver's library, off by default.

It opens `libcuda.so`, a name that machines with nothing but the driver lack, and ends by SIGSEGV in
MPI_Init if that fails. So it gets the path of the library, and no setting without one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mpigauge.site.mpi.device_memory.registry import Support, device_memory_of

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi
    from mpigauge.site.mpi.device_memory.libraries import CudaLibraries

_FIRST = (2021, 13)
"""The first version with the mode cuda."""


@device_memory_of("intel")
def support(mpi: Mpi, cuda: CudaLibraries) -> Support:
    version = tuple(int(number) for number in re.findall(r"\d+", mpi.version))
    if version and version < _FIRST:
        first = ".".join(map(str, _FIRST))
        return Support("", {}, f"Intel MPI {first} and later support CUDA; install a newer one")
    if cuda.driver is None:
        return Support("its own code for CUDA")
    settings = {
        "I_MPI_OFFLOAD": "1",
        "I_MPI_OFFLOAD_MODE": "cuda",
        "I_MPI_OFFLOAD_CUDA_LIBRARY": str(cuda.driver),
    }
    return Support("its own code for CUDA", settings)
