# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Whether an MPI works: a job of two ranks that start, meet in a barrier and end."""

from __future__ import annotations

import re
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.campaign.process import Job as Process
from mpigauge.campaign.reasons import why
from mpigauge.launch import Job, command
from mpigauge.model.errors import RunError

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi

RANKS = 2
SECONDS = 30.0
MARK = "mpigauge-trial"

# The handle of the world differs between the ABIs: a number, or the address of a datum.
RANK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
world = {
    "mpich": lambda: ctypes.c_int(0x44000000),
    "std": lambda: ctypes.c_void_p(0x101),
    "ompi": lambda: ctypes.byref(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world")),
}[sys.argv[2]]()
size = ctypes.c_int()
library.MPI_Init(None, None)
library.MPI_Comm_size(world, ctypes.byref(size))
library.MPI_Barrier(world)
library.MPI_Finalize()
sys.stdout.write("\\n%s %d\\n" % (sys.argv[3], size.value))
"""


@dataclass(frozen=True)
class Trial:
    works: bool
    reason: str
    """Why it does not."""
    seconds: float


@dataclass
class _Said:
    stdout: list[str] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)


def trial(mpi: Mpi, seconds: float = SECONDS) -> Trial:
    """Starts two ranks on this host, and ends them after so many seconds."""
    program = (sys.executable, "-c", RANK, str(mpi.library), mpi.abi, MARK)
    job = Job(mpi, RANKS, program, oversubscribe=True)
    begun = time.monotonic()
    try:
        reason = _reason(Process(command(job)), mpi, begun + seconds, seconds)
    except RunError as error:
        reason = str(error)
    return Trial(not reason, reason, time.monotonic() - begun)


def _reason(process: Process, mpi: Mpi, end_s: float, seconds: float) -> str:
    said = _Said()
    late = False
    try:
        for line in process.lines():
            if line is not None:
                getattr(said, line.stream).append(line.text)
            if not late and time.monotonic() > end_s:
                late = True
                process.kill()
    finally:
        status = process.close()
    if late:
        return f"the {RANKS} ranks did not end within {seconds:g} s"
    return judged(status, said.stdout, said.stderr, mpi)


def judged(status: int, stdout: list[str], stderr: list[str], mpi: Mpi) -> str:
    """What is wrong with a job that ended so; empty: nothing is."""
    sizes = [int(size) for size in re.findall(rf"^{MARK} (\d+)", "".join(stdout), re.MULTILINE)]
    if sizes == [RANKS] * RANKS and status == 0:
        return ""
    if sizes and set(sizes) == {1}:
        return (
            f"it starts {len(sizes)} jobs of 1 rank instead of one of {RANKS}: the launcher "
            f"{mpi.mpiexec} and the library {mpi.library} do not belong together"
        )
    if status == 0:
        return f"{len(sizes)} of {RANKS} ranks have said that they ended"
    return why(status, stderr, stdout)
