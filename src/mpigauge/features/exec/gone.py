# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which ranks of a job on this host have ended, by the processes below its launcher.

Hydra ends a job when a signal ends a rank, but not when a rank that never came to MPI_Init exits,
as where its program or a library cannot be loaded. The others then wait for it forever. Open MPI 5
ends the job, but now and then its launcher stays.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from mpigauge.site.mpi.programs.witness import NAME

RANK = (b"PMI_RANK", b"OMPI_COMM_WORLD_RANK", b"PMIX_RANK")
"""Variables in which launchers tell a rank its number."""
_ENDED = ("Z", "X")
"""States of a process that is nobody's any more (proc(5))."""


@dataclass
class LocalRanks:
    """The processes of ranks, as far as they have been seen."""

    launcher: int
    ranks: int
    proc: Path = Path("/proc")
    rank_of: dict[int, int] = field(default_factory=dict)
    """The rank that a process was when it was first seen; a program may overwrite what it was
    told, or hide it."""

    def gone(self) -> set[int]:
        """The ranks that have no process. None are where it is not known of each process that
        was started beside ranks which one it is. All are where there are none but ended ones."""
        if self._told(self.launcher) is not None:
            return set()  # it was started by a rank, and hands on what that was told
        parents, ended = _parents(self.proc)
        below = _below(self.launcher, parents)
        for pid in sorted(below - ended - self.rank_of.keys()):
            rank = self._told(pid)
            if rank is not None and parents[pid] not in self.rank_of:
                self.rank_of[pid] = rank
        alive = (below - ended) & self.rank_of.keys()
        starters = {parents[pid] for pid in alive | (below & ended)}
        others = below - ended - alive
        if not starters or any(parents[pid] in starters for pid in others - starters):
            return set()
        return set(range(self.ranks)) - {self.rank_of[pid] for pid in alive}

    def kill(self) -> None:
        """Ends what is below the launcher, which ranks outlive for a while when it is killed."""
        for pid in _below(self.launcher, _parents(self.proc)[0]):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def _told(self, pid: int) -> int | None:
        """Which rank it is. Of what we launch ranks alone preload the witness; we and the launcher
        may have been started by another launcher, which has told us a rank, too."""
        with suppress(OSError, ValueError):
            words = (self.proc / str(pid) / "environ").read_bytes().split(b"\0")
            told = dict(each.split(b"=", 1) for each in words if b"=" in each)
            if NAME.encode() in told.get(b"LD_PRELOAD", b""):
                return next((int(told[name]) for name in RANK if name in told), None)
        return None


def _parents(proc: Path) -> tuple[dict[int, int], set[int]]:
    """The parent of each process, and which ones have ended: nobody has asked for their status."""
    found, ended = {}, set()
    for path in proc.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # What the program is called stands in parentheses, and may have some in it.
            state, parent = path.read_text(errors="replace").rpartition(")")[2].split()[:2]
            pid = int(path.parent.name)
            found[pid] = int(parent)
            if state in _ENDED:
                ended.add(pid)
    return found, ended


def _below(launcher: int, parents: Mapping[int, int]) -> set[int]:
    """The processes that it started, and these, and so on."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    below: set[int] = set()
    known = [launcher]
    while known:
        for child in children.get(known.pop(), ()):
            if child not in below:
                below.add(child)
                known.append(child)
    return below
