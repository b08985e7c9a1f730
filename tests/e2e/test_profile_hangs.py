# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Programs that hang or die: the profile names where each rank stands, and proves deadlocks."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.analyse.account import Account
from mpigauge.products.profile.launch.gather import left_in
from mpigauge.products.profile.match.standing import Standing
from mpigauge.products.profile.read.files import read_folder
from mpigauge.products.profile.read.rank_file import RankFile
from mpigauge.products.profile.store.stored import load_jobs
from mpigauge.site.mpi import find
from tests import patience
from tests.conftest import MPIS
from tests.e2e.commands import command
from tests.e2e.test_profile import launcher_env, the_run
from tests.profiled import build

pytestmark = pytest.mark.mpi
RANKS = 3
AGAIN_S = 5.0
LONG_S = 1.2
"""For so long ranks are left in their state before they are ended."""
WORLD = "MPI_COMM_WORLD"
PLAIN = ("-fno-optimize-sibling-calls", "-fno-inline")
"""Each function has a frame of its own."""


@dataclass(frozen=True)
class Way:
    """A way to hang or die, and where ranks stand then."""

    calls: Mapping[int, str]
    """The calls of ranks; empty: outside MPI."""
    is_deadlock: bool = False
    ends_itself: bool = False
    function: str = ""
    communicator: str = WORLD
    about: Mapping[int, str] | None = None


WAYS = {
    "order": Way(
        dict.fromkeys(range(RANKS), "MPI_Recv"),
        is_deadlock=True,
        function="by_order",
        about={
            0: "from rank 2, tag 3",
            1: "from rank 0, tag 3",
            2: "from rank 1, tag 3",
        },
    ),
    "missing": Way(
        {0: "MPI_Barrier", 1: "MPI_Barrier", 2: "MPI_Finalize"},
        is_deadlock=True,
        function="by_missing_rank",
        communicator="all of them",
    ),
    "mixed": Way(
        {0: "MPI_Alltoall", 1: "MPI_Allreduce", 2: "MPI_Allreduce"},
        is_deadlock=True,
        function="mixed_collectives",
    ),
    "stop": Way(
        {0: "MPI_Bcast", 1: "", 2: "MPI_Bcast"},
        function="stops",
        about={0: "root rank 1"},
    ),
    "abort": Way(
        {0: "MPI_Wait", 1: "", 2: "MPI_Wait"},
        ends_itself=True,
        function="aborts",
        about={0: "from rank 1, tag 5"},
    ),
    "kill": Way(
        {0: "MPI_Barrier", 1: "", 2: "MPI_Barrier"}, ends_itself=True, function="is_killed"
    ),
    "exit": Way({0: "MPI_Barrier", 1: "", 2: "MPI_Barrier"}, ends_itself=True, function="exits"),
    "memory": Way(
        {0: "MPI_Barrier", 1: "", 2: "MPI_Barrier"},
        ends_itself=True,
        function="runs_out_of_memory",
    ),
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {
        name: build(find(name), "hangs.cpp", tmp_path_factory.mktemp(name), *PLAIN) for name in MPIS
    }


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("mpi_name", MPIS)
def test_a_program_that_hangs_or_dies_shows_where_each_rank_stands(
    mpi_name: str, name: str, programs: dict[str, Path], tmp_path: Path
) -> None:
    way = WAYS[name]
    process = started(find(mpi_name), programs[mpi_name], name, tmp_path)
    with process:
        if not way.ends_itself:
            patience.wait_for(lambda: has_lasted(tmp_path, way))
        _, errors = ended(process, interrupts=not way.ends_itself)
    (job,) = load_jobs(the_run(tmp_path))
    profile = job.profile
    standings = {each.rank: each for each in profile.standings}
    assert sorted(standings) == list(range(RANKS)), errors
    for rank, call in way.calls.items():
        if name != "abort" or rank != 1:  # some MPIs return from MPI_Abort
            assert calls_now(standings[rank]) == call, (rank, errors)
    first = standings[0]
    assert first.communicator == way.communicator
    for rank, words in (way.about or {}).items():
        assert standings[rank].about == words
    assert bool(profile.deadlock) is way.is_deadlock, profile.deadlock
    assert ("Deadlock: " in errors) is way.is_deadlock
    assert Account(job).where(profile.spots[first.site]).startswith(f"{way.function} at hangs.cpp:")
    assert "The last call of each rank:" in errors
    calls = {profile.spots[row["site"]].call for row in profile.rows}
    assert {call for call in way.calls.values() if call} <= calls
    assert name != "abort" or (standings[1].call == "MPI_Abort" and "MPI_Abort" in calls)


def test_watch_shows_where_the_ranks_of_a_running_program_stand(
    programs: dict[str, Path], tmp_path: Path
) -> None:
    with started(find("mpich"), programs["mpich"], "missing", tmp_path) as process:
        patience.wait_for(lambda: has_lasted(tmp_path, WAYS["missing"]))
        watch = subprocess.Popen(
            command(("watch", "last")), cwd=tmp_path, stdout=subprocess.PIPE, text=True
        )
        with watch:
            assert watch.stdout is not None
            shown = [watch.stdout.readline() for _ in range(5)]
            ended(process, interrupts=True)
            rest, _ = patience.communicate(watch)
    assert shown[0] == "Deadlock: ranks 0-1 are in MPI_Barrier and rank 2 is in MPI_Finalize.\n"
    assert shown[1] == "hangs: 3 ranks, now:\n"
    assert shown[3].startswith("0-1   Barrier")
    assert "all of them" in shown[3]
    assert "The last call of each rank:" in rest
    assert watch.returncode == 0


def started(mpi: Mpi, program: Path, way: str, folder: Path) -> subprocess.Popen[str]:
    words = ("profile", "--", "mpiexec", "-n", str(RANKS), str(program), way)
    more = {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    return subprocess.Popen(
        command(words),
        cwd=folder,
        env={**os.environ, **launcher_env(mpi), **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str], interrupts: bool) -> tuple[str, str]:
    """What it says until its end, with Ctrl-C until then: some launchers take more than one."""
    end = patience.Patience(patience.USUAL_S)
    while not end.is_over():
        if interrupts:
            process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=AGAIN_S)
        except subprocess.TimeoutExpired:
            continue
    raise TimeoutError(process.args)


def has_lasted(folder: Path, way: Way) -> bool:
    """Whether all ranks are where they hang, for long enough."""
    files = {file.rank: file for file in files_of(folder)}
    return all(
        rank in files and stands(files[rank], call) >= LONG_S for rank, call in way.calls.items()
    )


def files_of(folder: Path) -> tuple[RankFile, ...]:
    runs = list((folder / "mpigauge-runs").glob("*"))
    left = left_in(runs[0]) if runs else None
    return read_folder(Path(left.folder), time.time()) if left else ()


def stands(file: RankFile, call: str) -> float:
    """The seconds for which a rank has been in a call, or outside MPI."""
    for last in file.last_calls:
        if last.goes_on is bool(call) and call in ("", last.call):
            return last.seconds
    return 0.0


def calls_now(standing: Standing) -> str:
    return standing.call if standing.goes_on else ""
