# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks that have ended are known by the processes below their launcher."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.products.exec.gone import LocalRanks
from mpigauge.products.exec.show import some_gone
from mpigauge.products.exec.watching import Watching
from mpigauge.site.mpi.programs.witness import has_said_why

LAUNCHER, PROXY, FIRST = 10, 11, 20
PRELOADED = "LD_PRELOAD=/cache/libmpigauge_witness.so:/mpi/libmpi.so.12"


def told(rank: int) -> str:
    return f"PMI_RANK={rank}\0{PRELOADED}"


class Proc:
    """A folder as /proc: a launcher, what starts ranks for it, and ranks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.start(LAUNCHER, 1)
        self.start(PROXY, LAUNCHER)

    def start(self, pid: int, parent: int, env: str = "", state: str = "S") -> None:
        (self.folder / str(pid)).mkdir(exist_ok=True)
        (self.folder / f"{pid}/stat").write_text(f"{pid} (a (b) c) {state} {parent} 1 1 0\n")
        (self.folder / f"{pid}/environ").write_text(f"HOME=/home/a\0{env}\0")

    def rank(self, rank: int, state: str = "S") -> None:
        self.start(FIRST + rank, PROXY, told(rank), state)

    def end(self, pid: int) -> None:
        (self.folder / f"{pid}/stat").unlink()


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    return Proc(tmp_path)


def ranks_of(proc: Proc, many: int) -> LocalRanks:
    return LocalRanks(LAUNCHER, many, proc.folder)


def test_a_rank_without_a_process_has_ended(proc: Proc) -> None:
    proc.rank(0)
    proc.rank(2)
    ranks = ranks_of(proc, 3)
    assert ranks.gone() == {1}
    proc.end(FIRST + 2)
    assert ranks.gone() == {1, 2}


def test_one_that_nobody_has_asked_for_its_status_has_ended(proc: Proc) -> None:
    proc.rank(0)
    proc.rank(1, state="Z")
    assert ranks_of(proc, 2).gone() == {1}


def test_a_rank_stays_one_whatever_it_makes_of_what_it_was_told(proc: Proc) -> None:
    proc.rank(0)
    proc.rank(1)
    ranks = ranks_of(proc, 2)
    assert ranks.gone() == set()
    proc.start(FIRST + 1, PROXY, "a title\0\0\0")
    assert ranks.gone() == set()


def test_what_ranks_start_is_not_another_rank(proc: Proc) -> None:
    """It is told what its rank is."""
    proc.rank(0)
    proc.rank(1)
    proc.start(30, FIRST + 1, told(1))
    ranks = ranks_of(proc, 2)
    assert ranks.gone() == set()
    proc.end(FIRST + 1)
    proc.start(30, 1, told(1))
    assert ranks.gone() == {1}


def test_we_may_be_a_rank_ourselves(proc: Proc) -> None:
    """Of a batch system, whose variables the launcher hands on; or a rank that we have started."""
    proc.start(LAUNCHER, 1, "PMI_RANK=0")
    proc.start(PROXY, LAUNCHER, "PMI_RANK=0")
    proc.rank(0)
    proc.rank(1)
    assert ranks_of(proc, 2).gone() == set()
    proc.end(FIRST + 1)
    assert ranks_of(proc, 2).gone() == {1}
    proc.start(LAUNCHER, 1, told(0))
    proc.start(PROXY, LAUNCHER, told(0))
    assert ranks_of(proc, 2).gone() == set()


def test_nothing_is_said_beside_a_process_that_nobody_knows(proc: Proc) -> None:
    """It may be a rank that is just being started, or hides what it was told."""
    proc.rank(0)
    proc.start(FIRST + 1, PROXY)
    assert ranks_of(proc, 2).gone() == set()


def test_all_have_ended_where_nobody_asks_for_their_status(proc: Proc) -> None:
    """Open MPI's launcher starts ranks itself."""
    proc.end(PROXY)
    proc.start(FIRST, LAUNCHER, state="Z")
    assert ranks_of(proc, 2).gone() == {0, 1}
    assert some_gone([0, 1], 2) == "all ranks have ended, but their launcher has not; it is ended"
    proc.start(FIRST + 1, LAUNCHER)
    assert ranks_of(proc, 2).gone() == set()


def test_nothing_is_said_without_any_rank(proc: Proc) -> None:
    assert ranks_of(proc, 2).gone() == set()
    proc.end(LAUNCHER)
    assert ranks_of(proc, 2).gone() == set()


def test_a_job_is_ended_where_ranks_wait_for_one_that_has_ended(proc: Proc, tmp_path: Path) -> None:
    proc.rank(0)
    said: list[str] = []
    watching = Watching(tmp_path, 2, "mpich 5.0.2", said.append)
    watching.processes = ranks_of(proc, 2)
    for _ in range(5):
        watching.scan(noted=set())
    assert not said  # no rank waits
    (tmp_path / "entered.20").touch()
    for _ in range(2):
        watching.scan(noted=set())
    watching.scan(noted={1})  # it has been here, and its process was not seen
    watching.scan(noted=set())
    assert not said
    assert not has_said_why(tmp_path)
    for _ in range(2):
        watching.scan(noted=set())
    assert said == ["rank 1 has ended without MPI_Init, where others wait; the job is ended"]
    assert has_said_why(tmp_path)
    assert some_gone([1, 2, 3], 4).startswith("ranks 1-3 have ended without MPI_Init")
