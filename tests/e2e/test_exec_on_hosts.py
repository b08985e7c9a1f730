# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge exec` and fronts of `mpi front` on several hosts, named or those of a batch job."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import headers
from tests import patience
from tests.conftest import MPIS
from tests.e2e.cluster import Cluster, cluster, needs_root
from tests.e2e.slurm import Slurm, slurm

pytestmark = [pytest.mark.mpi, pytest.mark.hosts, needs_root]
SOURCE = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char** words) {
  char names[2][64] = {"", ""};
  int rank;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  gethostname(names[rank % 2], sizeof names[0]);
  MPI_Bcast(names[0], 64, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Bcast(names[1], 64, MPI_CHAR, 1, MPI_COMM_WORLD);
  if (rank == 0) printf("%s then %s\\n", names[0], names[1]);
  MPI_Finalize();
}
"""
SAID = "node01 then node02\n"


def made_for(name: str, folder: Path) -> Path:
    own = find(name)
    (folder / "app.c").write_text(SOURCE)
    words = ["gcc", "-O1", "-isystem", str(headers(own)), "app.c", "-o", f"app-{name}"]
    bound = f"-Wl,-rpath,{own.library.parent}"
    subprocess.run([*words, str(own.library), bound], cwd=folder, check=True)
    return folder / f"app-{name}"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("programs")
    return {name: made_for(name, folder) for name in ("mpich", "openmpi")}


# --- hosts that are named -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("exec"), 2, "--pin") as made:
        yield made


@pytest.mark.parametrize("program", ["mpich", "openmpi"])
def test_a_program_on_two_hosts(
    mpi: Mpi, hosts: Cluster, programs: dict[str, Path], program: str, tmp_path: Path
) -> None:
    """Directly and translated; each rank says where it is, and what it is bound to. The number of
    ranks is that of the hosts."""
    where = ("--hosts", "node[01-02]", "--ppn", "1", "--rsh", f"{hosts.agent} -p 50000")
    line = ("exec", "--mpi", mpi.spec, *where, "--", str(programs[program]))
    done = hosts.mpigauge(*line, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, SAID), done.stderr
    assert f"2 ranks on {mpi.label}, which see each other; node01: " in done.stderr
    assert "node02: " in done.stderr
    assert not list(tmp_path.iterdir())


# --- hosts of a job -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nodes() -> Iterator[Slurm]:
    with slurm("exec", "-n", "2") as made:
        yield made


def said_in_a_job(nodes: Slurm, cwd: Path, script: str) -> str:
    """What the script of a job of two nodes has printed, up to its last line."""
    said = cwd / "said"
    words = ("sbatch", "--nodes=2", f"--output={said}", f"--wrap={script}; echo ended $?")
    done = nodes.script(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    patience.wait_for(lambda: said.exists() and "\nended " in said.read_text())
    return said.read_text()


@pytest.mark.parametrize("name", MPIS)
def test_a_program_in_a_job(
    nodes: Slurm, programs: dict[str, Path], name: str, tmp_path: Path
) -> None:
    """The hosts are those of the job."""
    program = programs["openmpi" if find(name).abi == "mpich" else "mpich"]
    line = ("exec", "--mpi", name, "--np", "2", "--ppn", "1", "--", str(program))
    said = said_in_a_job(nodes, tmp_path, shlex.join(nodes.words(*line)[2:]))
    assert SAID in said, said
    assert "it runs there through a translation" in said
    assert said.endswith("ended 0\n")


@pytest.mark.parametrize("name", MPIS)
def test_a_script_that_calls_a_front_in_a_job(
    nodes: Slurm, programs: dict[str, Path], name: str, tmp_path: Path
) -> None:
    """Its line names no hosts: in a job these are the job's, as for the launcher it was written
    for."""
    written = nodes.mpigauge("mpi", "front", "front", "--mpi", name, cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    path = f"{tmp_path / 'front'}:{os.environ['PATH']}"
    line = f"mpirun -np 2 --map-by node {programs['openmpi']}"
    said = said_in_a_job(nodes, tmp_path, f"PATH={shlex.quote(path)} {line}")
    assert SAID in said, said
    assert said.endswith("ended 0\n")
