# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a profiled program does is measured again, without it. How long anything takes is not
judged."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.runs.store import load
from mpigauge.site.mpi.make import kernels
from tests.e2e.commands import last_line, mpigauge
from tests.profiled import build, profiled

pytestmark = pytest.mark.mpi
CALLS, LATE_US = 2000, 200
SENT = {"MPI_Alltoall": 4000, "MPI_Bcast": 3000}
"""Bytes of a call of the replay, which the benchmarks' own calls never have."""
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(scope="module")
def before(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile of a program whose ranks are late in turn."""
    folder = tmp_path_factory.mktemp("again")
    program = build(mpi, "late.cpp", folder)
    words = (str(mpi.mpiexec), "-n", "2", str(program), "turns", str(CALLS), str(LATE_US))
    env = {**mpi.env, **AS_ROOT}
    ended = mpigauge("profile", "--output", "before", "--", *words, cwd=folder, env=env)
    assert ended.returncode == 0, ended.stderr
    return folder


def run(folder: Path, *words: str) -> str:
    """Returns both streams, as a measurement prints what it does on the other one."""
    ended = mpigauge(*words, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


def stdout_of(folder: Path, *words: str) -> str:
    ended = mpigauge(*words, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_only_what_takes_time_is_measured_and_said_before(mpi: Mpi, before: Path) -> None:
    said = run(before, "profile", "--measure", "--mpi", mpi.spec, "--time", "4s", "before")
    assert re.search(r"measures \d cells?, by their share of the time in MPI: .*of 8 B", said)
    assert "no longer than" in said
    stored = load(before / "before-measured")
    # On a busy machine, so do calls that are made once: ranks wait for each other's start or end.
    assert {cell.benchmark for cell in stored.cells} - {"Barrier", "Gather"} == {"Allreduce"}
    summed = [cell for cell in stored.cells if cell.benchmark == "Allreduce"]
    assert {(cell.message_bytes, cell.datatype) for cell in summed} == {(8, "double")}
    # Ranks are late in turn, as in the program, where other work may make them later still.
    assert {cell.arrival for cell in summed} == {"profile:before"}
    assert all(1e6 * cell.time_skew_s > LATE_US / 2 for cell in summed)
    # The table shows them only if no other work takes the cores; they are there whatever the load.
    beside = json.loads(stdout_of(before, "show", "before", "--format", "json"))["beside_machine"]
    machine_s = [site["machine_s"] for site in beside["call_sites"]]
    assert any(each is not None and each > 0 for each in machine_s)
    assert 0 <= beside["perfect_network_saves"] <= 1
    assert 0 <= beside["perfect_balance_saves"] <= 1


def test_the_program_is_replayed_from_its_profile(mpi: Mpi, before: Path) -> None:
    """The calls of an iteration take time, in MPI and apart from it; it says how close they are."""
    words = ("Replay", "--replay", "before", "--mpi", mpi.spec, "--time", "2s", "--launches", "2")
    said = " ".join(run(before, "run", *words, "--output", "replayed").split())
    assert re.search(
        r"replayed, an iteration of before \(\d+ calls?\) spends .* µs in MPI, in", said
    )
    assert re.search(r"this replays \d+ % of the program.s time in MPI", said)
    (cell, *_) = load(before / "replayed").cells
    assert (cell.benchmark, cell.ranks, cell.message_bytes) == ("Replay", 2, -1)
    # It is late in turn: it computes, and waits no longer than an iteration takes.
    assert 1e6 * cell.time_p50_s > LATE_US / 2
    assert 0 < cell.time_own_s < cell.time_p50_s
    assert cell.time_own_mean_s > 0


def test_a_replay_makes_the_calls_of_the_program_in_their_proportion(
    mpi: Mpi, tmp_path: Path
) -> None:
    """A replay is profiled: ten exchanges of all ranks for each message of the root."""
    made = kernels(mpi)
    mix = "x=2;0+1;5+5;alltoall:4000:0:0:10/bcast:3000:0:1:1;"
    words = [str(made.executable), "--libmpi", str(mpi.library), "--plugin", str(made.plugin)]
    words += ["--benchmarks", "Replay", "--profile", mix, "--ranks", "2", "--seconds", "1"]
    done = profiled(mpi, 2, words, tmp_path / "files")
    assert (done.status, len(done.files)) == (0, 2), done.errors
    for file in done.files:
        counts = dict.fromkeys(("MPI_Alltoall", "MPI_Bcast"), 0)
        for cell in file.cells:
            call = file.sites[cell["site"]].call
            if call in counts and cell["amount"] == cell["count"] * SENT[call]:
                counts[call] += int(cell["count"])
        assert counts["MPI_Alltoall"] == 10 * counts["MPI_Bcast"] > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("profile", "--time", "5s", "--", "true"), "--time is the time for --measure"),
        (("profile", "--measure", "nothing"), "there is no run 'nothing'"),
        (("profile", "--measure", "--np", "9", "before"), "--np is for a command"),
        (("run", "Replay"), "name one that `mpigauge profile` made: --replay RUN"),
        (("run", "PingPong", "--replay", "before"), "--replay has no effect on PingPong"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    before: Path, words: tuple[str, ...], said: str
) -> None:
    ended = mpigauge(*words, cwd=before)
    assert ended.returncode == 2, ended.stderr
    assert said in last_line(ended.stderr)
