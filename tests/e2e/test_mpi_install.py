# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The real wheels: each MPI starts ranks and can be told what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.site.launch import Job, command
from mpigauge.site.mpi import find, list_all
from mpigauge.site.mpi.packages.install import install
from tests import patience

pytestmark = pytest.mark.mpi


def start(job: Job) -> str:
    line = command(job)
    done = patience.run(line.words, env={**os.environ, **line.env})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_installed_again_it_is_the_same(mpi: Mpi) -> None:
    assert install(mpi.spec) == mpi
    assert mpi in list_all().mpis


def test_its_folder_is_not_on_path(mpi: Mpi) -> None:
    assert str(mpi.prefix / "bin") not in os.environ["PATH"].split(":")


def test_ranks_start_unbound_with_the_environment_given(mpi: Mpi) -> None:
    program = ("sh", "-c", 'echo "[$A]" "[$B]" $(grep Cpus_allowed_list /proc/self/status)')
    job = Job(mpi, 3, program, env={"A": "x y;z"}, settings={"B": "1,2"}, oversubscribe=True)
    allowed = next(
        line
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("Cpus_allowed_list")
    )
    expected = f"[x y;z] [1,2] {' '.join(allowed.split())}"
    assert start(job).splitlines() == [expected] * 3


def test_modules_of_the_site_do_not_get_in_the_way(
    mpi: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPAL_PREFIX", "I_MPI_ROOT", "FI_PROVIDER_PATH"):
        monkeypatch.setenv(name, "/no/such/folder")
    if mpi.name != "mpich":
        assert start(Job(mpi, 1, ("echo", "up"))) == "up\n"


def test_the_kernels_run(mpi: Mpi, built: Kernels) -> None:
    words = [built.executable, "--libmpi", mpi.library, "--plugin", built.plugin]
    words += ["--benchmarks", "PingPong", "--sizes", "0,8", "--seconds", "0.2"]
    out = start(Job(mpi, 2, tuple(str(word) for word in words), oversubscribe=True))
    assert sum('"record":"cell"' in line for line in out.splitlines()) == 2


def test_the_standard_abi_runs_too(mpi: Mpi) -> None:
    if mpi.name == "openmpi":
        pytest.skip("Open MPI 5 has no library with the standard ABI")
    assert find(mpi.spec + "@std").abi == "std"
