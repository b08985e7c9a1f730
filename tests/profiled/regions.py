# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A program with regions in Python: calls MPI_Init, three barriers and MPI_Finalize of the library
that is its first argument, with the communicator that is its second."""

from __future__ import annotations

import ctypes
import sys

from mpigauge_regions import mpigauge_begin, mpigauge_end, region  # type: ignore[import-not-found]

mpi = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
symbol = sys.argv[2]
world = ctypes.c_int(int(symbol, 16)) if symbol.startswith("0x") else ctypes.byref(
    ctypes.c_char.in_dll(mpi, symbol)
)  # fmt: skip
mpigauge_begin("all")
mpi.MPI_Init(None, None)
for _ in range(3):
    with region("inner"):
        mpi.MPI_Barrier(world)
mpigauge_end()
mpi.MPI_Finalize()
