# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Faults of programs that exec and profile run: signals, aborts and kills, on each MPI."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.launch.library import library
from mpigauge.products.profile.store.stored import load_jobs
from mpigauge.runs.store import load
from mpigauge.runs.store.files import LEFT
from mpigauge.site.launch.leftovers import descendants, open_files
from mpigauge.site.mpi.make import headers
from tests import patience
from tests.e2e import commands as cli

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]
COMMANDS = ("exec", "profile")
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int n = 0; n < 10; ++n) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "abort") == 0 && rank == 1) {
    char line[200];
    snprintf(line, sizeof line, "{ cat /proc/%d/maps; ls -l /proc/%d/fd; } >files",
             getpid(), getppid());
    MPI_Abort(MPI_COMM_WORLD, system(line) == 0 ? 3 : 4);
  }
  if (rank == 0) fclose(fopen("ready", "w"));
  while (access("go", F_OK) != 0) usleep(10000);
  MPI_Finalize();
}
"""
MAPPED = re.compile(r"mpich_shm|sm_segment|Intel_MPI")


@pytest.fixture
def work(mpi: Mpi, tmp_path: Path) -> Path:
    """A folder with the program."""
    library()
    (tmp_path / "app.c").write_text(PROGRAM)
    words = ["gcc", "-isystem", str(headers(mpi)), "app.c", "-o", "app", str(mpi.library)]
    subprocess.run(words, cwd=tmp_path, check=True)
    return tmp_path


def words_of(command: str, mpi: Mpi, mode: str) -> tuple[str, ...]:
    output = ("--output", "out") if command == "profile" else ()
    return (command, "--np", "2", "--mpi", mpi.spec, *output, "--", "./app", mode)


def waiting(command: str, mpi: Mpi, work: Path) -> subprocess.Popen[str]:
    """A command whose program waits for a file that nobody makes."""
    process = cli.started(*words_of(command, mpi, "wait"), cwd=work)
    patience.wait_for(lambda: (work / "ready").exists() or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    return process


def leftovers(process: subprocess.Popen[str]) -> set[Path]:
    """What the processes of a job have open of shared memory and temporary files."""
    files = (path for pid in descendants(process.pid) for path, _ in open_files(pid))
    return {path for path in files if MAPPED.match(path.name) or "/tmp/hydra_" in str(path)}


def stored_ranks(run: Path) -> list[int]:
    return [len(job.ranks) for job in load_jobs(run)]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_signal_to_us_alone_reaches_the_program(command: str, mpi: Mpi, work: Path) -> None:
    process = waiting(command, mpi, work)
    files = leftovers(process)
    process.send_signal(signal.SIGINT)
    patience.communicate(process)
    assert process.returncode != 0
    assert not any(path.exists() for path in files)
    if command == "profile":
        assert stored_ranks(work / "out") == [2]


def test_ctrl_c_many_times_loses_no_profile(mpi: Mpi, work: Path) -> None:
    process = waiting("profile", mpi, work)
    while process.poll() is None and not (work / "out" / "status.json").exists():
        os.killpg(process.pid, signal.SIGINT)
    _, err = patience.communicate(process)
    assert stored_ranks(work / "out") == [2], err
    assert load(work / "out").status["status"] == "failed"


@pytest.mark.parametrize("command", COMMANDS)
def test_an_abort_leaves_nothing(command: str, mpi: Mpi, work: Path) -> None:
    env = {"TMPDIR": str(work)}
    done = cli.mpigauge(*words_of(command, mpi, "abort"), cwd=work, env=env)
    assert done.returncode == 3, done.stderr
    names = re.findall(r"(?:/dev/shm|/tmp/hydra_)\S+$", (work / "files").read_text(), re.MULTILINE)
    assert names or mpi.name == "intel"  # it removes the names of its files at once
    assert not [name for name in names if Path(name).exists()]
    assert not list(work.glob("ompi.*"))


def test_the_next_command_collects_what_a_killed_profile_left(mpi: Mpi, work: Path) -> None:
    process = waiting("profile", mpi, work)
    ranks = descendants(process.pid)
    process.kill()
    process.wait()
    for stream in (process.stdout, process.stderr):
        assert stream
        stream.close()  # the program still holds the other end
    early = cli.mpigauge("show", "out", cwd=work)
    assert "the program of out still runs" in early.stderr
    (work / "go").touch()
    patience.wait_for(lambda: all(map(cli.is_gone, ranks)))
    shown = cli.mpigauge("show", "out", cwd=work)
    assert shown.returncode == 0, shown.stderr
    assert "its ranks' files are collected" in shown.stderr
    assert "Barrier" in shown.stdout
    assert stored_ranks(work / "out") == [2]
    assert not (work / "out" / LEFT).exists()
    again = cli.mpigauge("show", "out", cwd=work)
    assert (again.stdout, again.stderr) == (shown.stdout, "")
