# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A killed mpirun of Open MPI 5 leaves files that keep a later one of its process number from
starting; the system gives numbers out again."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from mpigauge.site.mpi import find
from mpigauge.site.mpi.make import headers
from tests.e2e.commands import ROUGH, mpigauge

pytestmark = pytest.mark.mpi
NEXT = 4000
"""So many process numbers come next, more than a command and what runs beside it take."""
RUN = ("run", "PingPong", "--sizes", "8", "--launches", "1", *ROUGH, "--mpi", "openmpi")
EXEC = ("exec", "--np", "2", "--oversubscribe", "--mpi", "openmpi", "--", "./app")
PROGRAM = """
#include <mpi.h>
int main(int argc, char **argv) { MPI_Init(&argc, &argv); MPI_Finalize(); }
"""


def leave_sessions(folder: Path) -> None:
    """What was left by an mpirun of each process number that comes next."""
    most = int(Path("/proc/sys/kernel/pid_max").read_text())
    newest = int(Path("/proc/loadavg").read_text().split()[-1])
    name = f"pmix.{socket.gethostname().partition('.')[0]}.tool"
    for number in range(newest, newest + NEXT):
        pid = number % most
        session = folder / f"ompi.{pid}"
        session.mkdir()
        file = session / f"{name}.{pid}"
        file.write_text("left\n")
        os.utime(file, (0, 0))  # numbers do not come again within a second


def test_what_was_left_does_keep_mpirun_from_starting(tmp_path: Path) -> None:
    leave_sessions(tmp_path)
    mpi = find("openmpi")
    words = [str(mpi.mpiexec), "--allow-run-as-root", "-np", "1", "true"]
    env = {**os.environ, **mpi.env, "TMPDIR": str(tmp_path)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert "listener thread failed to start" in done.stderr


def test_kernels_start_where_something_was_left(tmp_path: Path) -> None:
    leave_sessions(tmp_path)
    done = mpigauge(*RUN, cwd=tmp_path, env={"TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert "started again" not in done.stdout + done.stderr


def test_programs_start_where_something_was_left(tmp_path: Path) -> None:
    mpi = find("openmpi")
    (tmp_path / "app.c").write_text(PROGRAM)
    words = ["gcc", "-isystem", str(headers(mpi)), "app.c", "-o", "app", str(mpi.library)]
    subprocess.run(words, cwd=tmp_path, check=True)
    leave_sessions(tmp_path)
    done = mpigauge(*EXEC, cwd=tmp_path, env={"TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stderr
