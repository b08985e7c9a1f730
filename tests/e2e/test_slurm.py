# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Jobs of a real Slurm: every MPI with its own launcher and with srun; jobs that end early."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mpigauge.model.cpu_lists import parse_list
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.products.profile.store.stored import load_jobs
from mpigauge.runs.store import Run, load
from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import headers
from tests import patience
from tests.conftest import MPIS
from tests.e2e import commands as cli
from tests.e2e.slurm import Slurm, needs_root, slurm

pytestmark = [pytest.mark.mpi, pytest.mark.hosts, needs_root]

DOCTOR = ("doctor", "smt", "--json")
LONG = ("PingPong", "--sizes", "0,8", "--launches", "12", "--mpi", "mpich", "--output", "out")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Slurm]:
    """Two nodes; where there are enough CPUs, each has one of its own."""
    with slurm("small", "-n", "2") as made:
        yield made


@pytest.fixture(scope="module")
def wide() -> Iterator[Slurm]:
    """Four nodes of which Slurm is told that they have 128 cores."""
    with slurm("wide", "-n", "4", "--fake", "2x64x1") as made:
        yield made


@pytest.fixture
def ready(mpi: Mpi, built: Kernels) -> Mpi:
    assert built.executable.exists()
    return mpi


def submit(nodes: Slurm, cwd: Path, *words: str) -> tuple[Run, subprocess.CompletedProcess[str]]:
    done = nodes.mpigauge("submit", "--nodes", "2", *words, "--output", "out", cwd=cwd)
    log = (cwd / "out.log").read_text() if (cwd / "out.log").exists() else ""
    assert done.returncode == 0, done.stderr + log
    return load(cwd / "out"), done


def check_seats(stored: Run) -> None:
    """A rank on each node, bound as the plan wants it."""
    part = stored.plan["parts"][0]
    wanted = {block["host"]: block["bind"][0] for block in part["blocks"]}
    assert list(wanted) == ["node01", "node02"]
    ranks = sorted(stored.ranks, key=lambda rank: rank.rank)
    assert [rank.host for rank in ranks] == ["node01", "node02"]
    for rank in ranks:
        assert parse_list(rank.cpuset) == parse_list(wanted[rank.host])


@pytest.mark.parametrize("launcher", [(), ("--launcher", "srun")], ids=["own", "srun"])
def test_a_job(ready: Mpi, nodes: Slurm, tmp_path: Path, launcher: tuple[str, ...]) -> None:
    """The hosts are those of the job; its result is shown by the command that submitted it."""
    words = ("PingPong", "Barrier", "--sizes", "8", "--launches", "1", *cli.ROUGH)
    stored, done = submit(nodes, tmp_path, "run", *words, "--mpi", ready.spec, *launcher)
    check_seats(stored)
    assert {cell.benchmark for cell in stored.cells} == {"PingPong", "Barrier"}
    assert "2 hosts: node[01-02]" in done.stdout
    assert "PingPong · 2 ranks" in done.stdout
    first = (tmp_path / "out" / "logs" / "launch-000.command").read_text()
    assert ("srun --mpi=" in first) == bool(launcher)


@pytest.mark.parametrize("within", ["", "sh -c"], ids=["line", "script"])
def test_a_program_is_profiled_in_a_job(nodes: Slurm, tmp_path: Path, within: str) -> None:
    """By srun itself and by a script that calls it, on two nodes with memories of their own."""
    mpich = find("mpich")
    (tmp_path / "app.c").write_text(PROGRAM)
    words = ["gcc", "-g", "-isystem", str(headers(mpich)), "app.c", "-o", "app", str(mpich.library)]
    subprocess.run([*words, f"-Wl,-rpath,{mpich.library.parent}"], cwd=tmp_path, check=True)
    line = ["srun", "--mpi=pmi2", "--ntasks=2", "--nodes=2", "./app"]
    profiled = [*within.split(), shlex.join(line)] if within else line
    call = ("submit", "--nodes", "2", "profile", "--output", "out", "--", *profiled)
    done = nodes.mpigauge(*call, cwd=tmp_path)
    log = (tmp_path / "out.log").read_text() if (tmp_path / "out.log").exists() else ""
    assert done.returncode == 0, done.stderr + log
    assert "2 of 2 ranks seen" in done.stderr
    (job,) = load_jobs(tmp_path / "out")
    assert [file.host for file in job.ranks] == ["node01", "node02"]
    assert "Sendrecv" in done.stdout


PROGRAM = """
#include <mpi.h>
int main(int count, char** words) {
  int rank, in = 0, out = 1;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 0, &in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Finalize();
}
"""


@pytest.mark.skipif("intel" not in MPIS, reason="there is no Intel MPI for such a machine")
def test_another_pmi(nodes: Slurm, tmp_path: Path) -> None:
    """Intel MPI understands both; for the others the right one is taken."""
    words = ("run", "PingPong", "--sizes", "8", "--launches", "1", *cli.ROUGH)
    stored, _ = submit(nodes, tmp_path, *words, "--mpi", "intel", "--launcher", "srun:pmix")
    check_seats(stored)
    assert "srun --mpi=pmix" in (tmp_path / "out" / "logs" / "launch-000.command").read_text()


def test_a_look_at_all_hosts_of_a_job(nodes: Slurm, tmp_path: Path) -> None:
    """Without naming them, and each once: those that are asked do not ask again."""
    looks = (shlex.join(nodes.words(*each)[2:]) for each in (("topo", "--json"), DOCTOR))
    script = f"{'; echo ---; '.join(looks)}; echo ---"
    said = tmp_path / "said"
    done = nodes.script("sbatch", "--nodes=2", f"--output={said}", f"--wrap={script}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    patience.wait_for(lambda: said.exists() and said.read_text().count("---") == 2)
    machines, found = (json.loads(text) for text in said.read_text().split("---")[:2])
    assert list(machines) == list(found) == ["node01", "node02"]
    assert [each["hostname"] for each in machines.values()] == ["node01", "node02"]
    assert [each["host"] for each in found.values()] == ["node01", "node02"]


# --- wide nodes ---------------------------------------------------------------------------------
def test_the_plan_of_512_ranks(wide: Slurm, tmp_path: Path, repository: Path) -> None:
    """A rank on each core of each node of the job, as if the nodes were built like the file."""
    rome = repository / "tests" / "machines" / "epyc-rome-2s-nps4.xml"
    plan = ("run", "Allreduce", "--mpi", "mpich", "--dry-run", "--topology", str(rome))
    call = shlex.join(wide.words(*plan)[2:])
    asked = ("--nodes=4", "--ntasks-per-node=128", f"--output={tmp_path}/table")
    done = wide.script("sbatch", *asked, f"--wrap={call}; echo end", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table = tmp_path / "table"
    patience.wait_for(lambda: table.exists() and table.read_text().endswith("end\n"))
    title, _, *rows = table.read_text().splitlines()[:-1]
    assert title == "a core for each rank: 512 ranks, Allreduce"
    assert [tuple(row.split()[:3]) for row in rows] == [
        (str(rank), f"node0{rank // 128 + 1}", str(rank % 128)) for rank in range(512)
    ]


def test_the_script_of_512_ranks(wide: Slurm, tmp_path: Path) -> None:
    words = ("--nodes", "4", "--ppn", "128", "--time", "10m", "--dry-run", "run", "Allreduce")
    done = wide.mpigauge("submit", *words, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    head = done.stdout.partition("\n\n")[0].splitlines()
    assert head == [
        "#!/bin/sh",
        "#SBATCH --job-name=mpigauge",
        f"#SBATCH --output={tmp_path}/out.log",
        "#SBATCH --nodes=4",
        "#SBATCH --ntasks-per-node=128",
        "#SBATCH --time=0:10:00",
    ]


@pytest.mark.parametrize(
    ("place", "seats"),
    [
        (("--ppn", "2"), [("node01", 0), ("node01", 1), ("node02", 0), ("node02", 1)]),
        (
            ("--place", "hosts", "--np", "4"),
            [("node01", 0), ("node02", 0), ("node01", 1), ("node02", 1)],
        ),
    ],
    ids=["host-by-host", "in-turn"],
)
def test_several_ranks_of_a_node(
    wide: Slurm, tmp_path: Path, place: tuple[str, ...], seats: list[tuple[str, int]]
) -> None:
    """Each on a core of its own."""
    how = ("--launcher", "srun", "--launches", "1", *cli.ROUGH, "--mpi", "mpich")
    stored, _ = submit(wide, tmp_path, "run", "Barrier", *place, *how)
    ranks = sorted(stored.ranks, key=lambda rank: rank.rank)
    assert [(rank.host, rank.local_rank) for rank in ranks] == seats
    assert len({rank.cpuset for rank in ranks}) == 2


@pytest.mark.skipif(not {0, 1} <= os.sched_getaffinity(0), reason="needs cores 0 and 1")
def test_srun_binds(tmp_path: Path) -> None:
    """On a node where Slurm may bind."""
    where = ("--place", "cores:1,0", "--bind-by", "launcher", "--launcher", "srun")
    words = ("run", "PingPong", "--sizes", "8", "--launches", "1", *cli.ROUGH, "--mpi", "mpich")
    with slurm("binding", "-n", "1", "--cpus", "2") as node:
        done = node.mpigauge("submit", *words, *where, "--output", "out", cwd=tmp_path)
        assert done.returncode == 0, done.stderr + (tmp_path / "out.log").read_text()
    stored = load(tmp_path / "out")
    assert {rank.rank: rank.cpuset for rank in stored.ranks} == {0: "1", 1: "0"}
    command = (tmp_path / "out" / "logs" / "launch-000.command").read_text()
    assert "--cpu-bind=mask_cpu:0x2,0x1" in command
    assert "--bind " not in command


# --- jobs that end early ----------------------------------------------------------------------
def ended_early(nodes: Slurm, cwd: Path, *end: str) -> tuple[Run, str]:
    """Submits a long run, and ends its job after the first launch with a command of Slurm."""
    process = subprocess.Popen(
        nodes.words("submit", "--nodes", "2", "--time", "1m", "run", *LONG),
        cwd=cwd,
        env={**os.environ, **nodes.env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    patience.wait_for((cwd / "out" / "run.json").exists)
    patience.wait_for(lambda: bool(load(cwd / "out").complete))
    done = nodes.script(*(word.replace("JOB", nodes.job()) for word in end))
    assert done.returncode == 0, done.stderr
    _, errors = patience.communicate(process)
    stored = load(cwd / "out")
    assert process.returncode == 1, errors
    assert 0 in stored.complete
    assert len(stored.complete) < 12
    assert stored.status["status"] == "interrupted"
    return stored, cli.last_line(errors)


def test_a_job_that_is_cancelled(nodes: Slurm, tmp_path: Path) -> None:
    """What was measured is kept, the reason is said, and another job goes on."""
    stored, said = ended_early(nodes, tmp_path, "scancel", "JOB")
    assert " was cancelled; " in said
    assert f"what was measured is kept in {stored.path.absolute()}; " in said
    done = nodes.mpigauge("submit", "--nodes", "2", "resume", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = load(tmp_path / "out")
    assert again.complete == frozenset(range(12))
    assert again.status["status"] == "done"


def test_a_job_that_runs_out_of_time(nodes: Slurm, tmp_path: Path) -> None:
    _, said = ended_early(nodes, tmp_path, "scontrol", "update", "JobId=JOB", "EndTime=now+1")
    assert " ran out of its time; " in said


def test_slurm_refuses(nodes: Slurm, tmp_path: Path) -> None:
    done = nodes.mpigauge("submit", "--queue", "none", "run", "PingPong", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "sbatch refused the job: " in done.stderr
    assert "Invalid partition" in done.stderr
    outside = nodes.mpigauge(
        "run", "PingPong", "--launcher", "srun", "--mpi", "mpich", cwd=tmp_path
    )
    assert outside.returncode == 2
    assert "starts ranks in a job of Slurm, and this is not one" in outside.stderr
