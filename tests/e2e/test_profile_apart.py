# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A program under the launcher of another MPI: its ranks do not see each other."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from mpigauge.site.launch import Job, command
from mpigauge.site.mpi import find
from tests.e2e.commands import mpigauge
from tests.profiled import build

pytestmark = pytest.mark.mpi


def test_ranks_under_another_launcher_are_reported_with_the_right_command(tmp_path: Path) -> None:
    mpich, openmpi = find("mpich"), find("openmpi")
    program = build(openmpi, "steady.cpp", tmp_path)
    launcher = command(Job(mpich, 2, (str(program),))).words[0]
    words = ["profile", "--output", str(tmp_path / "apart"), "--", launcher, "-n", "2"]
    done = mpigauge(*words, str(program), "transpose", "20", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stderr.split())
    assert "Ranks do not see each other: the launcher started 2, and each is rank 0 of 1" in text
    assert "2 ranks seen, which do not see each other" in text
    right = text.partition("Next: `mpigauge ")[2].partition("`")[0]
    again = mpigauge(*shlex.split(right), cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "2 of 2 ranks seen" in again.stderr
    assert "do not see each other" not in again.stderr


def test_an_mpi_that_fails_under_another_launcher_gets_the_right_command(tmp_path: Path) -> None:
    mpich, openmpi = find("mpich"), find("openmpi")
    program = build(mpich, "steady.cpp", tmp_path)
    start = command(Job(openmpi, 2, (str(program), "transpose", "20")))
    words = ["profile", "--output", str(tmp_path / "apart"), "--", *start.words]
    done = mpigauge(*words, cwd=tmp_path, env=start.env)
    text = " ".join(done.stderr.split())
    right = text.partition("`mpigauge ")[2].partition("`")[0]
    assert right.startswith("profile --np 2 "), done.stderr
    again = mpigauge(*shlex.split(right), cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "2 of 2 ranks seen" in again.stderr
