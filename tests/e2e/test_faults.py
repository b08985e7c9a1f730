# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Bad input and faults on real kernels: one clear line, the right status, nothing measured lost.

Status 2 before a launch, 1 after one. Mistakes in words are in
tests/unit/measuring/plan/test_plan.py and test_cli.py, crashes at a chosen place in
tests/process/test_campaign.py.
"""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.runs.store import Run, load
from mpigauge.site.launch.leftovers import descendants, open_files
from tests import patience
from tests.e2e import commands as cli

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]
SMALL = ("PingPong", "--sizes", "0,8")
ABORT = """
#include <stdio.h>
#include <stdlib.h>
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  (void)argc; (void)argv; (void)required; (void)provided;
  fputs("Fatal error in MPI_Init: no network here\\n", stderr);
  exit(15);
}
"""


@pytest.fixture
def spec(mpi: Mpi, built: Kernels) -> str:
    assert built.executable.exists()
    return mpi.spec


def refused(spec: str, cwd: Path, *words: str) -> str:
    """The line of a run that must not start; nothing may be left in the folder."""
    done = cli.mpigauge("run", *words, "--mpi", spec, "--output", "out", cwd=cwd)
    assert done.returncode == 2, done.stderr
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert not (cwd / "out" / "records.jsonl").exists()
    return done.stderr


def failed(process: subprocess.Popen[str]) -> str:
    """The last line of a run that went wrong after its launch."""
    out, err = patience.communicate(process)
    assert process.returncode == 1, (out, err)
    assert cli.last_line(err).startswith("mpigauge: ")
    assert "Traceback" not in err
    return cli.last_line(err)


def long_run(spec: str, cwd: Path, *more: str) -> subprocess.Popen[str]:
    """A run in the middle of its first launch."""
    process = cli.started("run", *cli.LONG, "--mpi", spec, "--output", "out", *more, cwd=cwd)
    cli.wait_for_measuring(process, cwd / "out")
    return process


def open_outside(process: subprocess.Popen[str]) -> set[Path]:
    """Files of shared memory and temporary files that the processes of a run have open."""
    files = (path for pid in descendants(process.pid) for path, _ in open_files(pid))
    return {
        path for path in files if str(path).startswith(("/dev/shm/", "/tmp/hydra_", "/tmp/ompi."))
    }


def none_is_left(files: set[Path]) -> bool:
    sessions = {Path("/tmp", path.parts[2]) for path in files if path.parts[1] == "tmp"}
    return not any(path.exists() for path in files | sessions)


def nothing_runs(stored: Run) -> bool:
    return all(cli.is_gone(rank.pid) for rank in stored.ranks)


# --- before a launch ------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["PingPogn"], "there is no benchmark 'PingPogn'; did you mean 'PingPong'?"),
        (["PingPong", "--sizes", "4..1"], "runs downwards"),
        (["Bcast", "--ranks", "5000"], "5000 ranks are more than the"),
        (["PingPong", "--bind", "0,4095"], "there is no core 4095 on "),
        (["Allreduce", "--datatype", "byte"], "sum is not defined for byte"),
        (["Barrier", "--op", "sum"], "--op has no effect on Barrier"),
    ],
)
def test_bad_input(spec: str, tmp_path: Path, words: list[str], sentence: str) -> None:
    assert sentence in refused(spec, tmp_path, *words)


def test_a_core_outside_the_cpuset(spec: str, tmp_path: Path) -> None:
    allowed = sorted(os.sched_getaffinity(0))
    words = ["taskset", "-c", str(allowed[0]), *cli.command(("run", *SMALL, "--mpi", spec))]
    bind = ["--bind", f"{allowed[0]},{allowed[1]}"]
    done = subprocess.run(
        [*words, *bind], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"core {allowed[1]} may not be used; the cpuset of this process is {allowed[0]}" in (
        done.stderr
    )


def test_one_core(spec: str, tmp_path: Path) -> None:
    first = str(min(os.sched_getaffinity(0)))
    words = ["taskset", "-c", first, *cli.command(("quick", "--mpi", spec))]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "the scheduler would be measured" in done.stderr
    assert "--oversubscribe" in done.stderr


def test_a_broken_mpi(mpi: Mpi, spec: str, tmp_path: Path) -> None:
    """A prefix whose library is not one."""
    assert spec
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "bin" / "mpiexec").symlink_to(mpi.mpiexec)
    (tmp_path / "lib" / mpi.library.name).write_bytes(b"\x7fELF" + bytes(60))
    line = refused(str(tmp_path), tmp_path, *SMALL)
    assert "does not work" in line


def test_no_compiler(spec: str, tmp_path: Path) -> None:
    done = cli.mpigauge(
        "quick", "--mpi", spec, cwd=tmp_path,
        env={"PATH": str(tmp_path), "CXX": "", "MPIGAUGE_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no C++ compiler" in done.stderr
    assert "apt-get install" in done.stderr


@pytest.mark.parametrize("output", ["/proc/out", "file/out", "no/folder/out"])
def test_output_that_cannot_be_written(spec: str, tmp_path: Path, output: str) -> None:
    (tmp_path / "file").write_text("")
    done = cli.mpigauge("run", *SMALL, "--mpi", spec, "--output", output, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"cannot write {output}" in done.stderr


def test_two_runs_into_one_folder(spec: str, tmp_path: Path) -> None:
    words = ("run", *SMALL, "--launches", "1", "--mpi", spec, "--output", "out")
    assert cli.mpigauge(*words, cwd=tmp_path).returncode == 0
    before = (tmp_path / "out" / "records.jsonl").read_bytes()
    done = cli.mpigauge(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "out is not empty; two runs cannot share a folder" in done.stderr
    assert (tmp_path / "out" / "records.jsonl").read_bytes() == before


def test_a_folder_that_is_being_written(spec: str, tmp_path: Path) -> None:
    process = long_run(spec, tmp_path)
    try:
        done = cli.mpigauge("resume", "out", cwd=tmp_path)
    finally:
        cli.kill(process.pid, signal.SIGINT)
        failed(process)
    assert done.returncode == 2
    assert "another mpigauge is writing into out" in done.stderr


# --- after a launch -------------------------------------------------------------------------
def test_an_mpi_that_aborts_in_init(spec: str, tmp_path: Path) -> None:
    library = cli.preload(tmp_path, ABORT)
    words = ("run", *SMALL, "--mpi", spec, "--output", "out", "--env", f"LD_PRELOAD={library}")
    done = cli.mpigauge(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert "the first launch failed: exit status" in done.stderr
    assert "no network here" in done.stderr
    assert done.stderr.count("\n") == 1
    stored = load(tmp_path / "out")
    assert stored.status["status"] == "failed"
    assert "no network here" in (stored.path / "logs" / "launch-000.stderr").read_text()


def test_wrong_data(spec: str, tmp_path: Path) -> None:
    words = ("run", "Corrupt", "--sizes", "0,8,64", "--launches", "1", "--mpi", spec)
    done = cli.mpigauge(*words, "--output", "out", cwd=tmp_path)
    assert done.returncode == 1
    line = cli.last_line(done.stderr)
    assert "wrong data: " in line
    assert "Corrupt 8 B, Corrupt 64 B" in line
    assert "Corrupt" in done.stdout
    again = cli.mpigauge("show", "out", cwd=tmp_path)
    assert "wrong data" in again.stdout


def test_a_size_without_memory(spec: str, tmp_path: Path) -> None:
    """PingPong sends from one buffer and receives into another: together more than is allowed."""
    words = ("run", "PingPong", "--sizes", "8,64Mi", "--memory-limit", "100Mi", "--launches", "1")
    done = cli.mpigauge(*words, "--mpi", spec, "--output", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    stored = load(tmp_path / "out")
    assert [cell.message_bytes for cell in stored.cells] == [8]
    assert "not enough memory" in stored.skips[0].reason
    assert "not enough memory" in done.stdout


def test_a_killed_rank(spec: str, tmp_path: Path) -> None:
    process = long_run(spec, tmp_path, "--launches", "1")
    files = open_outside(process)
    ranks = cli.ranks_of(tmp_path / "out")
    cli.kill(next(rank.pid for rank in ranks if rank.rank == 1))
    line = failed(process)
    assert "launch 0 failed: a rank was killed by signal 9 (SIGKILL)" in line
    assert "mpigauge resume out" in line
    stored = load(tmp_path / "out")
    assert stored.status["status"] == "failed"
    assert {cell.stop for cell in stored.cells} == {"interrupted"}
    assert stored.failures
    patience.wait_for(lambda: nothing_runs(stored))
    assert none_is_left(files)


def test_a_killed_launcher(spec: str, tmp_path: Path) -> None:
    process = long_run(spec, tmp_path, "--launches", "1")
    files = open_outside(process)
    cli.kill(cli.launcher_of(process))
    assert "the launcher was killed by signal 9 (SIGKILL)" in failed(process)
    stored = load(tmp_path / "out")
    assert {cell.stop for cell in stored.cells} == {"interrupted"}
    patience.wait_for(lambda: nothing_runs(stored))
    assert none_is_left(files)


def test_ctrl_c(spec: str, tmp_path: Path) -> None:
    process = long_run(spec, tmp_path)
    files = open_outside(process)
    cli.kill(process.pid, signal.SIGINT)
    line = failed(process)
    assert "interrupted: 0 launches are complete, what was measured is kept in out" in line
    stored = load(tmp_path / "out")
    assert stored.status["status"] == "interrupted"
    assert {cell.benchmark for cell in stored.cells} == {"PingPong", "Sendrecv"}
    assert [end.stopped for end in stored.ends] == ["interrupted"]
    patience.wait_for(lambda: nothing_runs(stored))
    assert none_is_left(files)


def test_ctrl_c_twice(spec: str, tmp_path: Path) -> None:
    process = long_run(spec, tmp_path)
    files = open_outside(process)
    cli.kill(process.pid, signal.SIGINT)
    cli.kill(process.pid, signal.SIGINT)
    assert "interrupted" in failed(process)
    stored = load(tmp_path / "out")
    assert stored.cells
    patience.wait_for(lambda: nothing_runs(stored))
    assert none_is_left(files)


def test_sigterm_of_a_batch_system(spec: str, tmp_path: Path) -> None:
    process = long_run(spec, tmp_path)
    files = open_outside(process)
    cli.kill(process.pid, signal.SIGTERM)
    assert "interrupted" in failed(process)
    assert load(tmp_path / "out").status["status"] == "interrupted"
    assert none_is_left(files)


def test_a_killed_mpigauge_leaves_no_ranks(spec: str, tmp_path: Path) -> None:
    process = long_run(spec, tmp_path)
    stored, files = load(tmp_path / "out"), open_outside(process)
    cli.kill(process.pid)
    process.communicate()
    patience.wait_for(lambda: nothing_runs(stored))
    patience.wait_for(lambda: none_is_left(files))
    shown = cli.mpigauge("show", "out", cwd=tmp_path)
    assert shown.returncode == 0
    measured = {cell.benchmark for cell in load(tmp_path / "out").cells}
    assert measured
    assert all(benchmark in shown.stdout for benchmark in measured)


def test_a_full_disk(spec: str, small_disk: Path) -> None:
    words = ("run", "PingPong", "--mpi", spec, "--launches", "20", "--output", "out")
    done = cli.mpigauge(*words, cwd=small_disk)
    assert done.returncode == 1
    line = cli.last_line(done.stderr)
    assert "cannot write" in line
    assert "No space left on device" in line
    assert "Traceback" not in done.stderr
    stored = load(small_disk / "out")
    assert stored.cells
    assert stored.damaged == ()
    assert "PingPong" in done.stdout


def test_a_disk_that_is_full_from_the_beginning(spec: str, small_disk: Path) -> None:
    (small_disk / "fill").write_bytes(bytes(255 << 10))
    done = cli.mpigauge("run", *SMALL, "--mpi", spec, "--output", "out", cwd=small_disk)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


LAUNCHER = """#!/bin/sh
[ "$1" = --version ] && { echo "VERSION"; exit; }
while :; do
  case "$1" in
    -genv) export "$2=$3"; shift 3 ;;
    -x) export "$2"; shift 2 ;;
    -n) ranks=$2; shift 2 ;;
    --mca) shift 3 ;;
    --bind-to | --map-by) shift 2 ;;
    --*) shift ;;
    *) break ;;
  esac
done
for _ in $(seq "$ranks"); do "$@" & done
wait
"""
VERSIONS = {"hydra": "HYDRA build details", "openmpi": "mpiexec (Open MPI) 5.0.11"}


def test_launcher_and_library_that_do_not_know_each_other(
    mpi: Mpi, spec: str, tmp_path: Path
) -> None:
    """Each process then is a job of one rank, which must not pass for a measurement."""
    assert spec
    (tmp_path / "bin").mkdir()
    launcher = tmp_path / "bin" / "mpiexec"
    launcher.write_text(LAUNCHER.replace("VERSION", VERSIONS[mpi.launcher]))
    launcher.chmod(0o755)
    for folder in ("lib", "include"):
        (tmp_path / folder).symlink_to(mpi.prefix / folder)
    words = ("run", *SMALL, "--mpi", str(tmp_path), "--output", "out", "--bind", "none")
    done = cli.mpigauge(*words, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "1 rank instead of 2" in done.stderr
    assert "do not belong together" in done.stderr


def test_a_tuning_goes_on_after_a_full_disk(small_disk: Path) -> None:
    """On one MPI, as a disk is full for all alike."""
    (small_disk / "fill").write_bytes(bytes(56 << 10))
    words = ("tune", "Bcast", "--ranks", "2", "--sizes", "8,1Ki", "--time", "6s", "--launches", "3")
    done = cli.mpigauge(*words, "--mpi", "mpich", "--output", "out", cwd=small_disk)
    assert done.returncode in (1, 2)
    assert "No space left on device" in cli.last_line(done.stderr)
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    done = cli.mpigauge(*words, "--mpi", "mpich", "--output", "out", cwd=small_disk)
    assert done.returncode == 0, done.stderr
    runs = [load(path.parent) for path in (small_disk / "out" / "runs").glob("*/run.json")]
    assert len(runs) >= 2
    assert {run.status["status"] for run in runs} == {"done"}
