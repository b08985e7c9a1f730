# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The cause of a rank's death, from its signal, its last words and the limits of the machine.

Each cause has a check of `mpigauge doctor` that finds it before a job starts. A cause is named only
on evidence: a limit that is in force, a counter that went up, space that ran out.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from mpigauge.model.units import memory
from mpigauge.site.launch.left_session import temporary_folder
from mpigauge.site.topology.conditions import (
    LEAST_STACK,
    SHM_OF_CONTAINERS,
    SHM_PER_RANK,
    Conditions,
    read_conditions,
)
from mpigauge.site.topology.files import Files, Room


@dataclass(frozen=True)
class Death:
    signal: int
    """The signal; 0: none."""
    words: str
    """The last lines of ranks, MPI and launcher."""
    ranks: int
    """The number of ranks on this machine."""
    before: Conditions
    after: Conditions

    def has_words(self, pattern: str) -> bool:
        return re.search(pattern, self.words, re.IGNORECASE) is not None


@dataclass(frozen=True)
class Cause:
    check: str
    """The check of `mpigauge doctor` that finds it."""
    look: Callable[[Death], str]
    """The cause in words; empty: it is another one."""


FEWEST_FILES = 20
"""The fewest open files with which a launcher of two ranks works: it has pipes to a proxy and
ranks."""
BY_SIGNAL = 128
CAUSES: list[Cause] = []
_Look = Callable[[Death], str]


def conditions() -> Conditions:
    """The current conditions of this machine."""
    return read_conditions(Files(Path("/")), temporary_folder(os.environ).lstrip("/"))


def cause_by_status(status: int, before: Conditions) -> str:
    """The cause of the end of a job whose output was not read. A launcher exits with 128 plus the
    number of the signal, or, like Hydra, with that number."""
    number = status - BY_SIGNAL if status > BY_SIGNAL else status
    if status <= BY_SIGNAL and number not in (signal.SIGBUS, signal.SIGKILL):
        return ""
    return cause_of(Death(number, "", 1, before, conditions()))


def cause_of(death: Death) -> str:
    """The first cause with evidence, and the check that finds it; empty: none."""
    for cause in CAUSES:
        if sentence := cause.look(death):
            return f"{sentence} (`mpigauge doctor {cause.check}`)"
    return ""


def _cause(check: str) -> Callable[[_Look], _Look]:
    """Registers a function as one of the causes, which are tried in order."""

    def register(look: _Look) -> _Look:
        CAUSES.append(Cause(check, look))
        return look

    return register


def _rose(before: int | None, after: int | None) -> bool:
    return before is not None and after is not None and after > before


def _least_free(rooms: Iterable[Room | None]) -> Room | None:
    return min((room for room in rooms if room), key=lambda room: room.free_bytes, default=None)


# --- signals --------------------------------------------------------------------------------
@_cause("shared-memory")
def shared_memory(death: Death) -> str:
    """Shared memory that runs out: when a rank first writes to pages of /dev/shm, or in a check by
    the MPI."""
    room = _least_free((death.before.shm, death.after.shm))
    if room is None or not (death.signal == signal.SIGBUS or death.has_words(_NO_SEGMENT)):
        return ""
    if room.free_bytes >= death.ranks * SHM_PER_RANK and room.total_bytes > SHM_OF_CONTAINERS:
        return ""
    return (
        f"/dev/shm is too small for the shared memory of the ranks, it has {_free(room)}; "
        "containers: --shm-size"
    )


@_cause("memory")
def memory_of_group(death: Death) -> str:
    if death.signal != signal.SIGKILL or death.after.memory_limit is None:
        return ""
    limit, peak = death.after.memory_limit, death.after.memory_peak
    # A group whose files once filled its memory has such a peak for good.
    is_full = _rose(death.before.memory_peak, peak) and (peak or 0) >= _NEARLY * limit
    if not _rose(death.before.group_oom_kills, death.after.group_oom_kills) and not is_full:
        return ""
    return f"the job needed more memory than the {memory(limit)} that the control group allows"


@_cause("memory")
def memory_of_host(death: Death) -> str:
    if death.signal != signal.SIGKILL:
        return ""
    if not _rose(death.before.host_oom_kills, death.after.host_oom_kills):
        return ""
    return "the memory of the machine ran out, and the kernel killed the rank"


@_cause("process-limits")
def processor_time(death: Death) -> str:
    seconds = death.after.limits.get("cpu time")
    if death.signal != signal.SIGXCPU or seconds is None:
        return ""
    return f"a process may use {seconds} s of CPU time (ulimit -t)"


@_cause("process-limits")
def size_of_files(death: Death) -> str:
    most = death.after.limits.get("file size")
    if most is None or not (
        death.signal == signal.SIGXFSZ or death.has_words(r"file too large|EFBIG")
    ):
        return ""
    return f"a process may write files of {memory(most)} (ulimit -f)"


@_cause("process-limits")
def stack(death: Death) -> str:
    most = death.after.limits.get("stack size")
    if death.signal != signal.SIGSEGV or most is None or most >= LEAST_STACK:
        return ""
    return f"the stack of a process may have {memory(most)} only (ulimit -s)"


@_cause("kernels")
def instructions(death: Death) -> str:
    if death.signal != signal.SIGILL:
        return ""
    return "the program or a library has instructions that this CPU does not have"


@_cause("single-copy")
def filtered_calls(death: Death) -> str:
    if death.signal != signal.SIGSYS or not death.after.seccomp:
        return ""
    return "the container refuses a system call of the rank (seccomp)"


# --- words ----------------------------------------------------------------------------------
@_cause("process-limits")
def open_files(death: Death) -> str:
    """Too few open files, with which a launcher may end before it prints why."""
    most = death.after.limits.get("open files")
    if most is None:
        return ""
    if most >= FEWEST_FILES and not death.has_words(r"too many open files|EMFILE"):
        return ""
    return f"a process may have {most} open files (ulimit -n)"


@_cause("process-limits")
def processes(death: Death) -> str:
    counts = (death.after.limits.get("processes"), death.after.process_limit)
    most = min((count for count in counts if count is not None), default=None)
    if most is None or not death.has_words(
        r"resource temporarily unavailable|EAGAIN|fork failed|cannot fork|pthread_create"
    ):
        return ""
    return f"there may be {most} processes and threads (ulimit -u, or pids.max)"


@_cause("locked-memory")
def locked_memory(death: Death) -> str:
    most = death.after.limits.get("locked memory")
    if most is None or not death.has_words(r"memlock|ibv_reg_mr|register memory|locked memory"):
        return ""
    return f"a process may lock {memory(most)} for the network card (ulimit -l)"


@_cause("process-limits")
def address_space(death: Death) -> str:
    counts = [death.after.limits.get(name) for name in ("address space", "data size")]
    most = min((count for count in counts if count is not None), default=None)
    if most is None or not death.has_words(_NO_MEMORY):
        return ""
    return f"a process may have {memory(most)} of memory (ulimit -v, -d)"


@_cause("memory")
def refused_memory(death: Death) -> str:
    limit = death.after.memory_limit
    if limit is None or not death.has_words(_NO_MEMORY):
        return ""
    return f"the control group allows {memory(limit)} of memory"


@_cause("shared-memory")
def full_shared_memory(death: Death) -> str:
    room = _least_free((death.before.shm, death.after.shm))
    if room is None or not death.has_words(r"no space left on device|ENOSPC"):
        return ""
    other = _least_free((death.before.temporary, death.after.temporary))
    if other is not None and other.free_bytes < room.free_bytes:
        return ""
    return f"/dev/shm is full, it has {_free(room)}"


@_cause("temporary-files")
def full_temporary_folder(death: Death) -> str:
    room = _least_free((death.before.temporary, death.after.temporary))
    if room is None or not death.has_words(r"no space left on device|ENOSPC|disk quota exceeded"):
        return ""
    return f"the folder for temporary files is full, it has {_free(room)}; set TMPDIR"


@_cause("temporary-files")
def no_execution(death: Death) -> str:
    if not death.after.no_exec or not death.has_words(
        r"failed to map segment|cannot execute|permission denied"
    ):
        return ""
    return "nothing may be executed in the folder for temporary files (noexec); set TMPDIR"


@_cause("single-copy")
def memory_of_others(death: Death) -> str:
    if not death.has_words(r"process_vm_(read|write)v|\bCMA\b.*(permitted|not available|denied)"):
        return ""
    return "a rank may not read the memory of another one"


@_cause("network-cards")
def ports(death: Death) -> str:
    if not death.has_words(r"no active ports?|port \d+ is not active|PORT_DOWN|link is down"):
        return ""
    return "no port of the network card is up"


@_cause("transports")
def no_transport(death: Death) -> str:
    if not death.has_words(
        r"fi_getinfo\(?\)?.*fail|no provider|PML \w+ cannot be selected|no usable transport|"
        r"no components were able to be opened|OFI addrinfo\(\) failed|no supported transport"
    ):
        return ""
    return "the MPI finds no network that it can use"


@_cause("cpuset")
def forbidden_cores(death: Death) -> str:
    if not death.has_words(
        r"sched_setaffinity|hwloc_set_cpubind|bind(ing)? .*(outside|not (allowed|available))"
    ):
        return ""
    return "a rank was to be bound to a core that this process may not use"


@_cause("quota")
def waited_too_long(death: Death) -> str:
    quota = death.after.cpu_quota
    if quota is None or quota >= death.ranks or not death.has_words(r"timed? ?out|was silent for"):
        return ""
    return f"{death.ranks} ranks share {quota:.3g} CPUs' worth of time"


_NO_SEGMENT = (
    r"not enough space for .*(/dev/shm|shared.memory)|shared.memory (backing file|segment)|"
    r"allocat\w+ shared memory|shm_open|shmem.*(fail|error)"
)
_NEARLY = 0.99
_NO_MEMORY = r"cannot allocate memory|out of memory|std::bad_alloc|ENOMEM|not enough memory"


def _free(room: Room) -> str:
    return f"{memory(room.free_bytes)} free of {memory(room.total_bytes)}"
