# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Calls of MPI at known lines, while a thread computes; each is marked by a comment."""

import threading

from mpi4py import MPI

comm = MPI.COMM_WORLD


def halo(steps: int) -> None:
    for _ in range(steps):
        comm.Barrier()  # first
        comm.Barrier()  # second


class Solver:
    def step(self) -> int:
        return sum((lambda: comm.allreduce(1))() for _ in range(2))  # lambda


def compute(ended: threading.Event) -> None:
    while not ended.is_set():
        sum(range(1000))


def in_thread() -> None:
    comm.Barrier()  # thread


ended = threading.Event()
beside = threading.Thread(target=compute, args=(ended,))
beside.start()
halo(7)
Solver().step()
ended.set()
beside.join()
other = threading.Thread(target=in_thread)
other.start()
other.join()
try:
    comm.Send([bytearray(1), MPI.BYTE], dest=comm.size)  # fails
except MPI.Exception:
    comm.Barrier()  # handler
