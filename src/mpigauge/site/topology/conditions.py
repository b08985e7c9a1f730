# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Limits and free space that end a job when they run out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.site.topology import cgroup

if TYPE_CHECKING:
    from mpigauge.site.topology.files import Files, Room

SHM = "dev/shm"
SHM_PER_RANK = 16 << 20
"""The shared memory per rank of Open MPI 5, in bytes, the most of the MPIs that we examined."""
SHM_OF_CONTAINERS = 64 << 20
"""The default size of /dev/shm in a container, in bytes."""
LEAST_STACK = 1 << 20
"""Programs with a smaller stack end with SIGSEGV."""
_LIMIT = re.compile(r"^Max ([a-z ]+?) {2,}(\S+) {2,}", re.MULTILINE)
_SECCOMP = re.compile(r"^Seccomp:\s*2", re.MULTILINE)


@dataclass(frozen=True)
class Conditions:
    shm: Room | None = None
    """/dev/shm; None: it does not exist."""
    temporary: Room | None = None
    """The folder for temporary files."""
    no_exec: bool = False
    """True if nothing in that folder may be executed."""
    memory_limit: int | None = None
    """Bytes that the control group allows."""
    memory_peak: int | None = None
    """The peak memory use of the group, in bytes."""
    group_oom_kills: int | None = None
    """Processes of the control group that were killed because memory ran out."""
    host_oom_kills: int | None = None
    """Processes of the whole machine that were killed because memory ran out."""
    process_limit: int | None = None
    """Processes and threads that the control group allows."""
    cpu_quota: float | None = None
    """CPUs' worth of time that the control group allows."""
    seccomp: bool = False
    """True if system calls are filtered."""
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)
    """The limits of this process, without unlimited ones, by the kernel's names: "open files"."""


def read_conditions(files: Files, temporary: str) -> Conditions:
    """The present conditions. `temporary`: the folder for temporary files, relative to the root."""
    vmstat = re.search(r"^oom_kill (\d+)", files.text("proc/vmstat") or "", re.MULTILINE)
    return Conditions(
        shm=files.room(SHM),
        temporary=files.room(temporary),
        no_exec="noexec" in _options_of_mount(files, temporary),
        memory_limit=cgroup.memory_limit(files),
        memory_peak=cgroup.memory_peak(files),
        group_oom_kills=cgroup.oom_kills(files),
        host_oom_kills=int(vmstat[1]) if vmstat else None,
        process_limit=cgroup.process_limit(files),
        cpu_quota=cgroup.cpu_quota(files),
        seccomp=bool(_SECCOMP.search(files.text("proc/self/status") or "")),
        limits=_limits(files.text("proc/self/limits") or ""),
    )


def _limits(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in _LIMIT.findall(text) if value.isdigit()}


def _options_of_mount(files: Files, folder: str) -> list[str]:
    """The options of the file system that holds a folder: the longest path of a mount wins."""
    path, best, options = f"/{folder.strip('/')}/", "", ""
    for line in (files.text("proc/self/mounts") or "").splitlines():
        words = line.split(" ")
        holds = len(words) > 3 and path.startswith(f"{words[1].rstrip('/')}/")
        if holds and len(words[1]) >= len(best):
            best, options = words[1], words[3]
    return options.split(",")
