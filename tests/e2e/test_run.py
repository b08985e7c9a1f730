# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""run, quick, show and resume on real kernels and every installed MPI."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import mpigauge
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.model.records import Gpu
from mpigauge.products.quick.plan import COLLECTIVES
from mpigauge.result.facts import facts_of_run
from mpigauge.runs.store import load
from mpigauge.site.mpi import find
from tests import patience
from tests.conftest import MPIS
from tests.e2e import commands as cli

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]


@pytest.fixture
def spec(mpi: Mpi, built: Kernels) -> str:
    assert built.executable.exists()
    return mpi.spec


def run(spec: str, cwd: Path, *words: str) -> Path:
    """A run that has to go well, in the folder `out`."""
    done = cli.mpigauge("run", *words, "--mpi", spec, "--output", "out", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return cwd / "out"


def test_pingpong(spec: str, tmp_path: Path) -> None:
    stored = load(run(spec, tmp_path, "pingpong", "--sizes", "0,1Ki", "--launches", "2"))
    assert stored.complete == {0, 1}
    assert {cell.message_bytes for cell in stored.cells} == {0, 1024}
    assert {launch.world_ranks for launch in stored.launches} == {2}
    assert stored.status["status"] == "done"
    assert stored.damaged == ()
    assert stored.passport["machine"]
    assert {rank.gpu for rank in stored.ranks} == {Gpu()}
    assert facts_of_run(stored).gpus == ()
    assert not list((tmp_path / "out").glob("stop-*"))


def test_the_same_from_python(spec: str, tmp_path: Path) -> None:
    """In a thread of its own, as a notebook's may be."""

    def measure() -> mpigauge.OpenedRun:
        output = tmp_path / "out"
        return mpigauge.measure("PingPong", mpi=spec, sizes=[0, 1024], launches=2, output=output)

    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(measure).result()
    assert [row.message_bytes for row in run.rows] == [0, 1024]
    assert {row.launches for row in run.rows} == {2}
    command = (
        f"mpigauge run PingPong --mpi {spec} --sizes 0,1024 --launches 2 --output {run.run.path}"
    )
    assert load(tmp_path / "out").header["command"] == command.split()


def test_ranks_are_where_they_were_told_to_be(spec: str, tmp_path: Path) -> None:
    one, other = sorted(os.sched_getaffinity(0))[:2]
    words = ("PingPong", "--sizes", "8", "--launches", "1", "--bind", f"{other},{one}")
    stored = load(run(spec, tmp_path, *words))
    assert {rank.rank: rank.cpuset for rank in stored.ranks} == {0: str(other), 1: str(one)}


def test_collectives_of_several_sizes(spec: str, tmp_path: Path) -> None:
    words = ("Allreduce", "Bcast", "Barrier", "--sizes", "0,8", "--launches", "1")
    stored = load(run(spec, tmp_path, *words, "--ranks", "1,2", "--op", "max"))
    found = {(cell.benchmark, cell.ranks, cell.op) for cell in stored.cells}
    assert {("Allreduce", 1, "max"), ("Allreduce", 2, "max"), ("Bcast", 2, "")} <= found
    assert all(cell.wrong_count == 0 for cell in stored.cells)


def test_fresh_data_beside_static_ones(tmp_path: Path) -> None:
    words = ("PingPong", "Barrier", "--data", "both", "--sizes", "8,16Ki", "--launches", "1")
    done = cli.mpigauge("run", *words, "--mpi", "openmpi", "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    stored = load(tmp_path / "out")
    assert {(cell.benchmark, cell.message_bytes, cell.data) for cell in stored.cells} == {
        *(("PingPong", size, data) for size in (8, 16384) for data in ("static", "fresh")),
        ("Barrier", -1, "static"),
    }
    assert "Fresh data against static · PingPong · 2 ranks · byte" in done.stdout
    assert "- Barrier left out: there are no fresh data: it has no send buffer." in done.stdout


def test_a_budget(spec: str, tmp_path: Path) -> None:
    stored = load(run(spec, tmp_path, "PingPong", "--sizes", "0,8", "--time", "2s"))
    assert stored.plan["seconds"] == 2.0
    assert len(stored.complete) >= 1


def test_classic(spec: str, tmp_path: Path) -> None:
    words = ("PingPong", "--classic", "--sizes", "0,8", "--format", "imb")
    done = cli.mpigauge("run", *words, "--mpi", spec, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "# Benchmarking PingPong" in done.stdout
    assert "IMB-compatible" in done.stdout
    assert {cell.mode for cell in load(tmp_path / "out").cells} == {"classic"}


def test_oversubscribed(spec: str, tmp_path: Path) -> None:
    ranks = str(1 + len(os.sched_getaffinity(0)))
    words = ("Barrier", "--ranks", ranks, "--oversubscribe", "--launches", "1", *cli.ROUGH)
    stored = load(run(spec, tmp_path, *words))
    assert {cell.ranks for cell in stored.cells} == {int(ranks)}
    assert all("oversubscribed" in cell.flags for cell in stored.cells)


def test_settings_reach_the_ranks(spec: str, mpi: Mpi, tmp_path: Path) -> None:
    setting = "mpi_yield_when_idle=0" if mpi.launcher == "openmpi" else "MPIR_CVAR_X=a b"
    words = ("--set", setting, "--env", "X_Y=1 2", "--launches", "1", "--sizes", "0")
    folder = run(spec, tmp_path, "PingPong", *words)
    text = (folder / "logs" / "launch-000.command").read_text()
    assert "X_Y=1 2" in text.replace("'", "")
    assert setting.partition("=")[0] in text


@pytest.mark.parametrize("form", ["table", "imb", "csv", "json"])
def test_show_prints_what_run_printed(tmp_path: Path, form: str) -> None:
    words = ("PingPong", "--sizes", "0,8", "--launches", "1", "--format", form)
    done = cli.mpigauge("run", *words, "--output", "out", cwd=tmp_path)
    again = cli.mpigauge("show", "out", "--format", form, cwd=tmp_path)
    assert (done.returncode, again.returncode) == (0, 0)
    assert again.stdout == done.stdout
    if form == "json":
        assert json.loads(again.stdout)


def test_quick(spec: str, tmp_path: Path) -> None:
    enough = ("--time", "100s", "--launches", "1", *cli.ROUGH)
    words = ("quick", "--mpi", spec, *enough, "--output", "out")
    done = cli.mpigauge(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    _, _, result = done.stdout.partition("\n")
    assert result.startswith("µs ")
    for word in (
        *("\nlatency, 0 B", "\npeak bandwidth", "\nmessage rate", "for measuring now"),
        *("Limits of the machine (this run", "a message by shared memory", "\nNext: "),
    ):
        assert word in result
    assert len(done.stdout.splitlines()) <= 24
    for benchmark in ("PingPong", "Sendrecv", "Uniband", "Allreduce", "Bcast", "Alltoall"):
        assert f"\n{benchmark}" in result
    assert max(map(len, result.splitlines())) <= 80
    sent = [cell for cell in load(tmp_path / "out").cells if cell.benchmark in COLLECTIVES]
    assert {cell.benchmark for cell in sent} == set(COLLECTIVES)
    assert all(cell.message_bytes for cell in sent)


def test_a_pipe_holds_the_result_alone_and_ends_with_the_answer(spec: str, tmp_path: Path) -> None:
    """How far a run has come, and where it is stored, is on standard error."""
    words = ("run", "PingPong", "--sizes", "8,1Ki", "--launches", "2", "--mpi", spec)
    done = cli.mpigauge(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mpigauge: launch 1 of 2, " in done.stderr
    assert "mpigauge: stored in mpigauge-runs" in done.stderr
    assert "launch 1 of" not in done.stdout
    assert "mpigauge:" not in done.stdout
    end = done.stdout[done.stdout.index("\nlatency, 8 B") :].splitlines()
    assert len(end) <= 24
    (run,) = (tmp_path / "mpigauge-runs").iterdir()
    assert f"mpigauge explain {run.name}`" in done.stdout or f"report {run.name}`" in done.stdout


def test_resume_after_kill(spec: str, tmp_path: Path) -> None:
    """What was complete is kept as it is, the rest is measured, nothing is left running."""
    words = ("run", "PingPong", "--sizes", "0,8", "--launches", "4", "--mpi", spec, "--seed", "7")
    process = cli.started(*words, "--output", "out", cwd=tmp_path)
    folder = tmp_path / "out"
    patience.wait_for((folder / "logs" / "launch-001.command").exists)
    cli.kill(process.pid)
    process.communicate()
    before = load(folder)
    assert before.status == {}
    done = cli.mpigauge("resume", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    after = load(folder)
    assert after.complete == {0, 1, 2, 3}
    assert {v for v in cli.values(before) if v[0] in before.complete} <= cli.values(after)
    patience.wait_for(lambda: all(cli.is_gone(rank.pid) for rank in before.ranks))
    patience.wait_for(lambda: not cli.jobs_of_this_test())


def test_resume_of_a_complete_run_measures_nothing(spec: str, tmp_path: Path) -> None:
    folder = run(spec, tmp_path, "PingPong", "--sizes", "0", "--launches", "1")
    before = (folder / "records.jsonl").read_bytes()
    done = cli.mpigauge("resume", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (folder / "records.jsonl").read_bytes() == before


def test_resume_refuses_another_version(spec: str, tmp_path: Path) -> None:
    folder = run(spec, tmp_path, "PingPong", "--sizes", "0", "--launches", "1")
    header = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(header | {"version": "0.0.1"}))
    done = cli.mpigauge("resume", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "measured with the mpigauge 0.0.1" in cli.last_line(done.stderr)


def test_several_mpis_beside_each_other(tmp_path: Path) -> None:
    """A run for each, launch by launch in turn, and one table."""
    words = ("run", "PingPong", "--sizes", "8,1Ki", "--launches", "2", "--output", "out")
    names = [find(name).label.replace(" ", "-") for name in MPIS]
    chosen = [word for name in MPIS for word in ("--mpi", name)]
    done = cli.mpigauge(*words, *chosen, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(names)
    stored = {name: load(tmp_path / "out" / name) for name in names}
    times = sorted((launch.time, name) for name, run in stored.items() for launch in run.launches)
    assert {name for _, name in times[: len(names)]} == set(names)
    for name in MPIS:
        assert f"  {find(name).label} " in done.stdout.replace("\n", " \n"), done.stdout
        assert f"mpigauge: {find(name).label}: launch 2 of 2" in done.stderr
    others = " and ".join(find(name).label for name in MPIS[1:])
    assert f"Nothing is decided of {others}." in " ".join(done.stdout.split())
    again = cli.mpigauge("resume", "out", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "Nothing is decided of " in again.stdout
    assert again.stdout.count("PingPong") == done.stdout.count("PingPong")


def test_a_refusal_leaves_no_folder_of_the_others(tmp_path: Path) -> None:
    taken = tmp_path / "out" / find("openmpi").label.replace(" ", "-") / "mine"
    taken.mkdir(parents=True)
    words = ("--mpi", "mpich", "--mpi", "openmpi", "--output", "out")
    done = cli.mpigauge("run", "Barrier", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert taken.parent.name in done.stderr
    assert list((tmp_path / "out").iterdir()) == [taken.parent]


def test_an_mpi_cannot_be_named_twice(tmp_path: Path) -> None:
    done = cli.mpigauge("run", "PingPong", "--mpi", "mpich", "--mpi", "mpich", cwd=tmp_path)
    assert done.returncode == 2
    assert "mpich is named twice" in done.stderr
    words = ("--mpi", "mpich", "--mpi", "openmpi", "--format", "csv")
    done = cli.mpigauge("run", "PingPong", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "--format csv is of one run" in done.stderr
    assert list(tmp_path.iterdir()) == []
