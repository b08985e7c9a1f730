# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Limits: CPU time, memory, shared memory, locked memory."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator

from mpigauge.model.units import many, memory
from mpigauge.products.doctor.check_finding import CheckFinding, Host, bad, good, note, unknown
from mpigauge.products.doctor.registry import check
from mpigauge.site.topology.conditions import (
    LEAST_STACK,
    SHM,
    SHM_PER_RANK,
    Conditions,
    read_conditions,
)

SEGMENTS = re.compile(r"(mpich_sh|sm_segment|vader_segment|Intel_MPI|psm\d_shm|ucx_shm)")
"""Beginnings of the names that MPI libraries give to their shared memory."""
MANY_SEGMENTS = 16
TEMPORARY = tempfile.gettempdir().lstrip("/")
LEAST_TEMPORARY = 16 << 20
FILES_PER_RANK, THREADS_PER_RANK = 16, 8
"""A rank and its launcher need about as many open files for each other rank of the node, and as
many threads of MPI and its networks."""


@check("quota", "how much CPU time the control group allows")
def quota(host: Host) -> Iterator[CheckFinding]:
    allowed, cores = host.machine.cpu_quota, host.machine.cores
    if host.files.text("proc/self/cgroup") is None:
        yield unknown("the control group of this process cannot be read")
    elif allowed is None:
        yield good("no limit")
    elif allowed < cores:
        yield bad(
            f"the control group allows {allowed:.3g} CPUs' worth of time on {many(cores, 'core')}",
            "ranks poll, so they use it up and are all stopped for the rest of each period, "
            "up to 0.1 s",
            f"measure on {many(max(1, int(allowed)), 'core')}, or raise the limit: "
            f"`--cpus {cores}` (containers), cpu.max (version 2), cpu.cfs_quota_us (version 1)",
        )
    else:
        yield good(f"{allowed:.3g} CPUs' worth of time on {many(cores, 'core')}")


@check("memory", "how much memory the control group allows")
def memory_limit(host: Host) -> Iterator[CheckFinding]:
    limit, total = host.machine.memory_limit_bytes, host.machine.memory_total_bytes
    if not total:
        yield unknown("the machine does not report its memory")
    elif limit is not None and limit < total:
        yield note(
            f"the control group allows {memory(limit)} of {memory(total)}",
            "large messages on many ranks are left out, or the job is killed",
            "ask for more: `--mem` (Slurm), `--memory` (containers)",
        )
    else:
        yield good(f"{memory(total)}, no limit")


@check("shared-memory", "whether /dev/shm is large enough for the ranks of a node")
def shared_memory(host: Host) -> Iterator[CheckFinding]:
    room = host.files.room(SHM)
    needed = SHM_PER_RANK * host.machine.cores
    if room is None:
        yield unknown("there is no /dev/shm")
    elif room.free_bytes < needed:
        yield bad(
            f"/dev/shm has {memory(room.free_bytes)} free of {memory(room.total_bytes)}; "
            f"Open MPI 5 takes {memory(SHM_PER_RANK)} per rank",
            f"jobs of {host.machine.cores} ranks end with SIGBUS, or take a slower way",
            f"`sudo mount -o remount,size={_mebibytes(2 * needed)}m /dev/shm`; containers: "
            f"`--shm-size {_mebibytes(2 * needed)}m`",
        )
    else:
        yield good(f"{memory(room.free_bytes)} free in /dev/shm")
    yield from _leftovers(host)


def _leftovers(host: Host) -> Iterator[CheckFinding]:
    count = sum(bool(SEGMENTS.match(name)) for name in host.files.names(SHM))
    if count >= MANY_SEGMENTS:
        yield note(
            f"{count} segments of MPI jobs are in /dev/shm",
            "jobs that were killed leave them behind; they fill memory",
            "when no MPI job runs: `rm /dev/shm/{mpich_sh,sm_segment,vader_segment,Intel_MPI,"
            "psm,ucx_shm}*`",
        )


@check("locked-memory", "how much memory a process may lock for a network card")
def locked_memory(host: Host) -> Iterator[CheckFinding]:
    limits = host.files.text("proc/self/limits")
    match = re.search(r"^Max locked memory\s+(\S+)", limits or "", re.MULTILINE)
    fabric = [device.name for device in host.machine.devices if device.fabric]
    if match is None:
        yield unknown("the limits of this process cannot be read")
    elif match[1] == "unlimited":
        yield good("no limit")
    elif fabric:
        yield bad(
            f"a process may lock {memory(int(match[1]))}, and there is {', '.join(fabric)}",
            "the card's driver cannot register buffers: MPI falls back to TCP, or does not start",
            "`ulimit -l unlimited`; for good `* - memlock unlimited` in "
            "/etc/security/limits.d/, and LimitMEMLOCK=infinity for slurmd",
        )
    else:
        yield good(f"{memory(int(match[1]))}; there is no network card that needs more")


@check("process-limits", "what a process may have: files, threads, memory, CPU time")
def process_limits(host: Host) -> Iterator[CheckFinding]:
    if "Max open files" not in (host.files.text("proc/self/limits") or ""):
        yield unknown("the limits of this process cannot be read")
        return
    problems = list(_small_limits(read_conditions(host.files, TEMPORARY), host.machine.cores))
    for problem, option in problems:
        yield note(
            problem,
            "a job that needs more ends with an error or a signal",
            f"`ulimit {option} unlimited`, or /etc/security/limits.d/; containers: `--ulimit`",
        )
    if not problems:
        yield good("enough for the ranks of a node")


def _small_limits(there: Conditions, cores: int) -> Iterator[tuple[str, str]]:
    """Limits that jobs on all cores come up against, each with its option of ulimit."""
    limits = there.limits
    if limits.get("open files", FILES_PER_RANK * cores) < FILES_PER_RANK * cores:
        yield f"a process may have {limits['open files']} open files", "-n"
    counts = [limits.get("processes"), there.process_limit]
    processes = min((count for count in counts if count is not None), default=None)
    if processes is not None and processes < THREADS_PER_RANK * cores:
        yield f"there may be {processes} processes and threads", "-u"
    if limits.get("stack size", LEAST_STACK) < LEAST_STACK:
        yield f"the stack of a process may have {memory(limits['stack size'])}", "-s"
    if "cpu time" in limits:
        yield f"a process may use {limits['cpu time']} s of CPU time", "-t"
    if "file size" in limits:
        yield f"a process may write files of {memory(limits['file size'])}", "-f"
    for name, option in (("address space", "-v"), ("data size", "-d")):
        if name in limits:
            yield f"a process may have {memory(limits[name])} of memory", option


@check("temporary-files", "whether there is room for the files of launchers")
def temporary_files(host: Host) -> Iterator[CheckFinding]:
    there = read_conditions(host.files, TEMPORARY)
    costs = "launchers and MPIs keep files and sockets there, and do not start without them"
    if there.temporary is None:
        yield unknown(f"there is no /{TEMPORARY}")
    elif there.temporary.free_bytes < LEAST_TEMPORARY:
        free, total = map(memory, (there.temporary.free_bytes, there.temporary.total_bytes))
        yield bad(f"/{TEMPORARY} has {free} free of {total}", costs, "remove files, or set TMPDIR")
    elif there.no_exec:
        yield note(
            f"nothing in /{TEMPORARY} may be executed (noexec)",
            "a program or a library that is put there does not start",
            f"set TMPDIR, or `sudo mount -o remount,exec /{TEMPORARY}`",
        )
    else:
        yield good(f"{memory(there.temporary.free_bytes)} free in /{TEMPORARY}")


def _mebibytes(count: int) -> int:
    return -(-count // (1 << 20))
