# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks on the cores that were asked for, whoever binds them; read back from the real kernels."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.runs.store import load
from tests.cases.launching import finish, site, start
from tests.conftest import MPIS
from tests.e2e import commands as cli

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]
ONE, OTHER = (sorted(os.sched_getaffinity(0)) * 2)[:2]
WORDS = ("run", "PingPong", "--sizes", "8", *cli.ROUGH, "--launches", "1", "--output", "out")


@pytest.fixture
def ready(mpi: Mpi, built: Kernels) -> Mpi:
    assert built.executable.exists()
    return mpi


def test_the_launcher_binds(ready: Mpi, tmp_path: Path) -> None:
    """With its own options alone."""
    where = ("--place", f"cores:{OTHER},{ONE}", "--bind-by", "launcher")
    done = cli.mpigauge(*WORDS, *where, "--mpi", ready.spec, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ranks = load(tmp_path / "out").ranks
    assert {rank.rank: rank.cpuset for rank in ranks} == {0: str(OTHER), 1: str(ONE)}
    assert "--bind " not in (tmp_path / "out" / "logs" / "launch-000.command").read_text()


def test_kernels_bind_themselves_against_their_launcher(ready: Mpi) -> None:
    """Which binds each to the core of the other."""
    words = ("--benchmarks", "PingPong", "--sizes", "8", "--seconds", "0.1", "--records", "-")
    told = ("--bind", f"{OTHER},{ONE}")
    ended = finish(start(site(ready.spec), 2, *words, *told, bind=((ONE,), (OTHER,))))
    assert ended.status == 0, ended.errors
    assert {rank.rank: rank.cpuset for rank in ended.ranks} == {0: str(OTHER), 1: str(ONE)}


@pytest.mark.skipif("intel" not in MPIS, reason="there is no Intel MPI for such a machine")
def test_a_launcher_that_binds_elsewhere_is_refused(tmp_path: Path) -> None:
    """A setting of the user is stronger than ours: what is read back tells."""
    where = ("--place", f"cores:{OTHER},{ONE}", "--bind-by", "launcher", "--mpi", "intel")
    contrary = ("--set", f"I_MPI_PIN_DOMAIN=[{1 << ONE:#x},{1 << OTHER:#x}]")
    done = cli.mpigauge(*WORDS, *where, *contrary, cwd=tmp_path)
    assert done.returncode == 1
    assert f"was to run on core {OTHER} and may run on {ONE}: its launcher did not" in done.stderr


def test_what_a_launcher_cannot_be_told(tmp_path: Path) -> None:
    where = ("--place", f"cores:{ONE}+{OTHER},{ONE}", "--bind-by", "launcher")
    done = cli.mpigauge(*WORDS, *where, "--mpi", "openmpi", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "does not support these cores: it takes one core for each rank" in done.stderr
    assert not (tmp_path / "out").exists()
