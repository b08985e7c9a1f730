# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reports the placement of a program's ranks as soon as all have noted it, and ends a job whose
ranks are not where they should be."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from mpigauge.products.exec.gone import LocalRanks
from mpigauge.products.exec.show import all_seen, some_gone, some_seen
from mpigauge.site.mpi.programs.witness import (
    SeenRank,
    has_said_why,
    note_said,
    seen_ranks,
    some_wait,
)

LOOK_EVERY_S = 0.1
PATIENCE_S = 10.0
"""The seconds without a rank that has left MPI_Init after which a remark is due."""
SCAN_EVERY_S = 1.0
"""Processes are looked through, until all ranks have come out of MPI_Init."""
GONE_SCANS = 3
"""A rank that has no process in so many of them has ended."""
MOST_SCANS = 30
"""While no rank is in MPI_Init: it may be a program that never comes there, which scans disturb."""
GRACE_S = 2.0
"""So long a launcher has for ending the job itself, after a rank has said why and ended."""


@dataclass
class Watching:
    folder: Path
    ranks: int
    mpi: str
    tell: Callable[[str], None]
    ended: threading.Event = field(default_factory=threading.Event)
    reported: bool = False
    is_here: bool = False
    """All ranks are on this host."""
    grace_s: float = GRACE_S
    job: subprocess.Popen[bytes] | None = None
    """The launcher, once it is started."""
    processes: LocalRanks | None = None
    missing: list[set[int]] = field(default_factory=list)
    """Ranks without a process, by scan."""

    def started(self, job: subprocess.Popen[bytes]) -> None:
        self.job = job
        if self.is_here:
            self.processes = LocalRanks(job.pid, self.ranks)

    def __enter__(self) -> Watching:
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """The program has ended: what is known now is all."""
        del error, at
        self.ended.set()
        self.thread.join()
        seen = self.look()
        if not self.reported and kind is None and not has_said_why(self.folder):
            self.tell(some_seen(seen, self.ranks))

    def follow(self) -> None:
        waited_s, scanned_s, warned = 0.0, 0.0, False
        while not self.reported and not self.ended.wait(LOOK_EVERY_S):
            if has_said_why(self.folder):
                self.end_job()
                return
            seen = self.look()
            waited_s += LOOK_EVERY_S
            if waited_s >= scanned_s + SCAN_EVERY_S:
                scanned_s = waited_s
                self.scan({each.rank for each in seen})
            if waited_s > PATIENCE_S and not seen and not warned:
                self.tell(f"no rank has come out of MPI_Init for {PATIENCE_S:g} s")
                warned = True

    def scan(self, noted: set[int]) -> None:
        """Looks for ranks that have ended before they came to MPI_Init, where others wait; and for
        a launcher that stays when all have ended."""
        waits = some_wait(self.folder)
        if self.processes is None or not (waits or len(self.missing) < MOST_SCANS):
            return
        gone = self.processes.gone() - noted
        matters = waits or len(gone) == self.ranks
        self.missing.append(gone if matters else set())
        ended = set.intersection(*self.missing[-GONE_SCANS:])
        if ended and len(self.missing) >= GONE_SCANS:
            self.tell(some_gone(sorted(ended), self.ranks))
            note_said(self.folder)

    def end_job(self) -> None:
        """Others may wait for the rank that has ended, and their launcher for them. A launcher that
        is asked for the second time waits no longer, either."""
        for end in (self.ask, self.ask, self.force):
            if self.ended.wait(self.grace_s) or self.job is None:
                return
            end(self.job)

    def ask(self, job: subprocess.Popen[bytes]) -> None:
        job.terminate()

    def force(self, job: subprocess.Popen[bytes]) -> None:
        if self.processes is not None:
            self.processes.kill()
        job.kill()

    def look(self) -> list[SeenRank]:
        seen = seen_ranks(self.folder)
        if len(seen) == self.ranks and not self.reported:
            self.reported = True
            self.tell(all_seen(seen, self.mpi))
        return seen
