# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds ranks of a job on this host that have ended, by the processes below its launcher.

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
        if self._read_rank(self.launcher) is not None:
            return set()  # it was started by a rank, and hands on what that was told
        parents, ended = _parents(self.proc)
        below = _below(self.launcher, parents)
        for pid in sorted(below - ended - self.rank_of.keys()):
            rank = self._read_rank(pid)
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

    def _read_rank(self, pid: int) -> int | None:
        """The rank of a process, by its environment. Of the processes below the launcher only ranks
        preload the witness; mpigauge itself may also be a rank of another launcher."""
        with suppress(OSError, ValueError):
            words = (self.proc / str(pid) / "environ").read_bytes().split(b"\0")
            variables = dict(each.split(b"=", 1) for each in words if b"=" in each)
            if NAME.encode() in variables.get(b"LD_PRELOAD", b""):
                return next((int(variables[name]) for name in RANK if name in variables), None)
        return None


def _parents(proc: Path) -> tuple[dict[int, int], set[int]]:
    """The parent of each process, and which ones have ended: nobody has asked for their status."""
    parent_of, ended = {}, set()
    for path in proc.glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # What the program is called stands in parentheses, and may have some in it.
            state, parent = path.read_text(errors="replace").rpartition(")")[2].split()[:2]
            pid = int(path.parent.name)
            parent_of[pid] = int(parent)
            if state in _ENDED:
                ended.add(pid)
    return parent_of, ended


def _below(launcher: int, parents: Mapping[int, int]) -> set[int]:
    """The processes that it started, and these, and so on."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    below: set[int] = set()
    pending = [launcher]
    while pending:
        for child in children.get(pending.pop(), ()):
            if child not in below:
                below.add(child)
                pending.append(child)
    return below
