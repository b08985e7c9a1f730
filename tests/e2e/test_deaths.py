# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks that die of a limit of the machine: the message names it, on every MPI."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mpigauge.model.mpi import Kernels, Mpi
from tests import patience
from tests.e2e import commands as cli

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]
MEMORY = Path("/sys/fs/cgroup/memory")


@pytest.fixture
def spec(mpi: Mpi, built: Kernels) -> str:
    assert built.executable.exists()
    return mpi.spec


def ended(words: list[str], spec: str, cwd: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """A run below other words."""
    run = ("run", "PingPong", "--launches", "1", *cli.ROUGH, "--mpi", spec, *more)
    return patience.run([*words, *cli.command(run)], cwd=cwd, env=dict(os.environ))


def failure(words: list[str], spec: str, cwd: Path, *more: str) -> str:
    """The last line of a run that fails in its first launch."""
    done = ended(words, spec, cwd, *more)
    assert done.returncode == 1, (done.stdout, done.stderr)
    return cli.last_line(done.stderr)


def can_mount() -> bool:
    """Whether this process may have mounts of its own."""
    unshare = shutil.which("unshare")
    words = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/dev/shm"]
    return bool(unshare) and not subprocess.run(words, capture_output=True, check=False).returncode


@pytest.mark.skipif(not can_mount(), reason="needs the right to mount")
def test_a_small_dev_shm(spec: str, tmp_path: Path) -> None:
    """Open MPI looks before, and takes TCP, which stands above the table."""
    words = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=256k none /dev/shm && exec "$@"']
    if spec.startswith("openmpi"):
        done = ended([*words, "sh"], spec, tmp_path, "--sizes", "8")
        assert "over tcp within a host" in done.stdout
        return
    told = failure([*words, "sh"], spec, tmp_path, "--sizes", "8")
    assert "/dev/shm is too small for the shared memory of the ranks" in told
    assert "`mpigauge doctor shared-memory`" in told


def test_too_few_open_files(spec: str, tmp_path: Path) -> None:
    script = 'ulimit -n 14 && exec "$@"'
    told = failure(["sh", "-c", script, "sh"], spec, tmp_path, "--sizes", "8")
    assert "a process may have 14 open files (ulimit -n) (`mpigauge doctor process-limits`)" in told


@contextmanager
def group_of(limit: int) -> Iterator[Path]:
    """A control group that allows so many bytes."""
    (own,) = [line.split(":", 2)[2] for line in Path("/proc/self/cgroup").read_text().splitlines()
              if line.split(":")[1] == "memory"]  # fmt: skip
    group = MEMORY / own.lstrip("/") / f"mpigauge-test-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text(str(limit))
        yield group
    finally:
        patience.wait_for(lambda: not (group / "tasks").read_text())
        group.rmdir()


@pytest.mark.skipif(not os.access(MEMORY, os.W_OK), reason="needs control groups of version 1")
def test_too_little_memory(spec: str, tmp_path: Path) -> None:
    with group_of(160 << 20) as group:
        script = f'echo $$ > {group}/tasks && exec "$@"'
        words = ["sh", "-c", script, "sh"]
        told = failure(words, spec, tmp_path, "--sizes", "128Mi", "--memory-limit", "1Gi")
    assert "the job needed more memory than the 160.0 MiB that the control group allows" in told
