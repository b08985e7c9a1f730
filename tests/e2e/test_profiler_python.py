# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Calls of Python programs are at the lines that made them."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.read.rank_file import RankFile
from mpigauge.site.mpi import find
from tests.conftest import MPIS
from tests.e2e.commands import mpigauge
from tests.profiled import HERE, profiled

pytestmark = pytest.mark.mpi
PROGRAM = HERE / "lines.py"


@pytest.fixture(scope="module", params=MPIS)
def mpi(request: pytest.FixtureRequest) -> Mpi:
    return find(str(request.param))


def marks() -> dict[int, str]:
    """The comments at the ends of lines."""
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    return {n: line.rpartition("  # ")[2] for n, line in enumerate(lines, 1) if "  # " in line}


def at_lines(file: RankFile) -> Counter[tuple[str, str, str]]:
    """The calls at marked lines: the mark, the function and the call."""
    made: Counter[tuple[str, str, str]] = Counter()
    for site in file.sites:
        frame = site.frames[-1]
        if frame.module and frame.module.path == str(PROGRAM) and frame.offset in marks():
            made[marks()[frame.offset], frame.module.function, site.call] += site.calls
    return made


def test_calls_are_at_their_lines_of_python(mpi: Mpi, tmp_path: Path) -> None:
    done = profiled(mpi, 2, [sys.executable, PROGRAM], tmp_path / "profile")
    assert done.status == 0, done.errors
    assert [file.rank for file in done.files] == [0, 1]
    qualified = sys.version_info >= (3, 11)
    for file in done.files:
        made = at_lines(file)
        barriers = {(mark, function): n for (mark, function, call), n in made.items()
                    if call == "MPI_Barrier"}  # fmt: skip
        assert barriers == {
            ("first", "halo"): 7,
            ("second", "halo"): 7,
            ("thread", "in_thread"): 1,
            ("handler", "<module>"): 1,
        }
        (inner,) = {function for mark, function, _ in made if mark == "lambda"}
        assert inner.startswith("Solver.step.") == qualified
        assert inner.endswith("<lambda>")
        assert any(mark == "fails" and call.startswith("MPI_Send") for mark, _, call in made)


def test_lines_can_be_left_out(mpi: Mpi, tmp_path: Path) -> None:
    words = ["profile", "--np", "2", "--mpi", mpi.name, "--format", "csv", "--output"]
    program = ["--", sys.executable, str(PROGRAM)]
    with_lines = mpigauge(*words, str(tmp_path / "on"), *program, cwd=tmp_path)
    without = mpigauge(
        *words, str(tmp_path / "off"), "--python-lines", "off", *program, cwd=tmp_path
    )
    assert with_lines.returncode == without.returncode == 0
    assert "halo at lines.py:14" in with_lines.stderr
    assert "lines.py:" not in without.stderr
    assert "Comm.Barrier" in without.stderr
