# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a profiled program does is measured again, without it. How long anything takes is not
judged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.runs.store import load
from tests.e2e.commands import last_line, mpigauge
from tests.profiled import build

pytestmark = pytest.mark.mpi
CALLS, LATE_US = 2000, 200
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
    ended = mpigauge(*words, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


def test_only_what_takes_time_is_measured_and_said_before(mpi: Mpi, before: Path) -> None:
    said = run(before, "profile", "--measure", "--mpi", mpi.spec, "--in", "8s", "before")
    assert re.search(r"measures \d cells?, by their share of the time in MPI: .*of 8 B", said)
    assert "no longer than" in said
    stored = load(before / "before-measured")
    # On a busy machine the one barrier, where ranks wait for each other's start, takes its share.
    assert {cell.benchmark for cell in stored.cells} - {"Barrier"} == {"Allreduce"}
    summed = [cell for cell in stored.cells if cell.benchmark == "Allreduce"]
    assert {(cell.message_bytes, cell.datatype) for cell in summed} == {(8, "double")}
    # Ranks are late in turn, as in the program.
    assert {cell.arrival for cell in summed} == {"profile:before"}
    assert all(0.5 * LATE_US < 1e6 * cell.time_skew_s < 5 * LATE_US for cell in summed)
    shown = run(before, "show", "before")
    assert "A perfect network would save at most" in " ".join(shown.split())
    assert "machine's own" in shown


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("profile", "--in", "5s", "--", "true"), "--in is the time for --measure"),
        (("profile", "--measure", "nothing"), "there is no run 'nothing'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    before: Path, words: tuple[str, ...], said: str
) -> None:
    ended = mpigauge(*words, cwd=before)
    assert ended.returncode == 2, ended.stderr
    assert said in last_line(ended.stderr)
