# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Real MPIs: listed, tried, and found again behind a script."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mpigauge.measuring.trials.trial import trial
from mpigauge.model.mpi import Mpi
from mpigauge.runs.store import load
from mpigauge.site.mpi import find
from tests.conftest import ABIS
from tests.e2e import commands as cli

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("name", ABIS)
def test_two_ranks_start(name: str) -> None:
    tried = trial(find(name))
    assert tried.reason == ""
    assert tried.works


def test_launcher_and_library_of_different_mpis() -> None:
    mpich, openmpi = find("mpich"), find("openmpi")
    mixed = replace(openmpi, mpiexec=mpich.mpiexec, launcher="hydra")
    tried = trial(mixed)
    assert not tried.works
    assert tried.reason.startswith("it starts 2 jobs of 1 rank instead of one of 2: the launcher")


def test_the_list_knows_what_is_installed(mpi: Mpi, tmp_path: Path) -> None:
    done = cli.mpigauge("mpi", "list", "--json", "--no-start", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (same,) = [each for each in json.loads(done.stdout)["mpis"] if each["spec"] == mpi.spec]
    assert (same["name"], same["version"]) == (mpi.name, mpi.version)
    assert same["launcher_version"].split(".")[:2] == mpi.version.split(".")[:2]
    assert same["wrong"] == []


def test_an_mpi_behind_a_script_is_measured_and_found_again(tmp_path: Path) -> None:
    openmpi = find("openmpi")
    script = tmp_path / "vars.sh"
    script.write_text(
        f"export PATH={openmpi.prefix}/bin:$PATH OPAL_PREFIX={openmpi.prefix}\n"
        f"export LD_LIBRARY_PATH={openmpi.prefix}/lib\n"
    )
    words = ("PingPong", "--sizes", "8", "--launches", "1", "--bind", "none", "--output", "out")
    done = cli.mpigauge("run", *words, "--mpi", f"script:{script}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    stored = load(tmp_path / "out")
    assert stored.header["mpi"]["again"] == f"script:{script}"
    assert stored.header["mpi"]["env"]["OPAL_PREFIX"] == str(openmpi.prefix)
    assert stored.header["plan"]["mpi"] == f"script:{script}"
