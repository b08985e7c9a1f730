# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tests an MPI: a job of two ranks that start, exchange a message and end."""

from __future__ import annotations

import os
import re
import sys
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mpigauge.measuring.jobs import deaths
from mpigauge.measuring.jobs.process import LauncherProcess as Process
from mpigauge.measuring.jobs.reasons import signal_of, why
from mpigauge.model.errors import RunError
from mpigauge.site.launch import Job, OnHost, command
from mpigauge.site.mpi.quick_start import quick_start

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.model.mpi import Mpi
    from mpigauge.site.topology.conditions import Conditions

RANKS = 2
SECONDS = 30.0
MARK = "mpigauge-trial"

# Handles differ between the ABIs: a number, or the address of a datum. A message of this size is
# too long for what is sent ahead, so both ways of sending are tried.
RANK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
length = 1 << 20

def datum(name):
    return ctypes.byref(ctypes.c_char.in_dll(library, name))

world, byte, ignore = {
    "mpich": lambda: (ctypes.c_int(0x44000000), ctypes.c_int(0x4C00010D), ctypes.c_void_p(1)),
    "std": lambda: (ctypes.c_void_p(0x101), ctypes.c_void_p(0x247), None),
    "ompi": lambda: (datum("ompi_mpi_comm_world"), datum("ompi_mpi_byte"), None),
}[sys.argv[2]]()
rank, size = ctypes.c_int(), ctypes.c_int()
library.MPI_Init(None, None)
library.MPI_Comm_rank(world, ctypes.byref(rank))
library.MPI_Comm_size(world, ctypes.byref(size))
sent = ctypes.create_string_buffer(bytes([65 + rank.value]) * length, length)
got = ctypes.create_string_buffer(length)
for count in (1, length):
    peer = (rank.value + 1) % size.value
    library.MPI_Sendrecv(sent, count, byte, peer, 7, got, count, byte, peer, 7, world, ignore)
    assert got.raw[:count] == bytes([65 + peer]) * count, "wrong data came"
library.MPI_Finalize()
sys.stdout.write("\\n%s %d\\n" % (sys.argv[3], size.value))
"""


@dataclass(frozen=True)
class Trial:
    works: bool
    reason: str
    """The reason why it does not work."""
    seconds: float
    output: str = ""
    """The output of the ranks and the library."""


@dataclass
class _Output:
    stdout: list[str] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)


def trial(mpi: Mpi, seconds: float = SECONDS, settings: Mapping[str, str] | None = None) -> Trial:
    """Starts two ranks on this host and ends them after this time.

    Without `settings` the MPI is started as fast as possible; {} leaves its defaults.
    """
    if settings is None:
        settings = quick_start(mpi, {}, os.environ)
    return tried(Job(mpi, RANKS, (), settings=settings), seconds)


def tried(job: Job, seconds: float = SECONDS) -> Trial:
    """A trial launch with a job's environment, launcher and hosts; it needs no program and no
    ranks."""
    program = (sys.executable, "-c", RANK, str(job.mpi.library), job.mpi.abi, MARK)
    taken = job.hosts[:RANKS]
    job = replace(
        job,
        ranks=RANKS,
        program=program,
        hosts=tuple(OnHost(host.name, RANKS // len(taken)) for host in taken),
        oversubscribe=len(taken) < RANKS,
    )
    begun = time.monotonic()
    output = _Output()
    try:
        reason = _reason(Process(command(job)), job.mpi, output, begun + seconds, seconds)
    except RunError as error:
        reason = str(error)
    return Trial(not reason, reason, time.monotonic() - begun, "".join(output.stdout))


def _reason(process: Process, mpi: Mpi, output: _Output, end_s: float, seconds: float) -> str:
    late, before = False, deaths.conditions()
    try:
        for line in process.lines():
            if line is not None:
                getattr(output, line.stream).append(line.text)
            if not late and time.monotonic() > end_s:
                late = True
                process.kill()
    finally:
        status = process.close()
    if late:
        return f"the {RANKS} ranks did not end within {seconds:g} s"
    return _with_cause(judged(status, output.stdout, output.stderr, mpi), status, output, before)


def _with_cause(reason: str, status: int, output: _Output, before: Conditions) -> str:
    """The reason with the limit of this machine that the ranks reached, if any."""
    if not reason:
        return ""
    lines = [*output.stderr, *output.stdout]
    words = "\n".join([reason, *lines])
    signal = signal_of(status, lines)
    cause = deaths.cause_of(deaths.Death(signal, words, RANKS, before, deaths.conditions()))
    return "; ".join(filter(None, [reason, cause]))


def judged(status: int, stdout: list[str], stderr: list[str], mpi: Mpi) -> str:
    """The problem of a job with this output and status; empty: it does not exist."""
    sizes = [int(size) for size in re.findall(rf"^{MARK} (\d+)", "".join(stdout), re.MULTILINE)]
    if sizes == [RANKS] * RANKS and status == 0:
        return ""
    if sizes and set(sizes) == {1}:
        return (
            f"it starts {len(sizes)} jobs of 1 rank instead of one of {RANKS}: the launcher "
            f"{mpi.mpiexec} and the library {mpi.library} do not belong together"
        )
    if status == 0:
        return f"{len(sizes)} of {RANKS} ranks have reported their end"
    return why(status, stderr, stdout)
