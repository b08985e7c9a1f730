# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Starts mpigauge as a user does, and looks at what it leaves behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from mpigauge.measuring.jobs.watchdog import MARK
from mpigauge.model.record import Rank
from mpigauge.runs.store import Run, load
from tests import patience

ROUGH = ("--precision", "50%")
"""The option with which cells take few samples, and the time that these need. With `--time` alone a
command takes all of this time, and leaves out cells where the machine is busy."""
LONG = ("PingPong", "Sendrecv", "--sizes", "0,8,64Ki", "--time", "60s")
"""Benchmarks that are certainly still measured when somebody presses Ctrl-C."""


def mpigauge(
    *words: str, cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return patience.run(command(words), cwd=cwd, env={**os.environ, **(env or {})})


def started(*words: str, cwd: Path) -> subprocess.Popen[str]:
    """In a session of its own, so that signals of the test reach it alone."""
    return subprocess.Popen(
        command(words),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def command(words: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-c", "from mpigauge.cli import main; main()", *words]


def last_line(text: str) -> str:
    return text.strip().splitlines()[-1] if text.strip() else ""


def wait_for_measuring(process: subprocess.Popen[str], folder: Path, launch: int = 0) -> None:
    """Until a launch has shown its first numbers."""
    file = folder / "progress" / f"launch-{launch:03d}.jsonl"

    def shown() -> bool:
        assert process.poll() is None, process.communicate()
        return file.exists() and file.stat().st_size > 0

    patience.wait_for(shown)


def launcher_of(process: subprocess.Popen[str]) -> int:
    """The child of mpigauge that belongs to a job; another one is the watchdog of all jobs."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")

    def launchers() -> list[int]:
        return [pid for pid in map(int, children.read_text().split()) if _is_of_job(pid)]

    patience.wait_for(launchers)
    return launchers()[0]


def _is_of_job(pid: int) -> bool:
    try:
        return f"{MARK}=".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def ranks_of(folder: Path) -> list[Rank]:
    return load(folder).ranks


def is_gone(pid: int) -> bool:
    """A process that ended and that nobody has waited for yet counts as gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def jobs_of_this_test() -> list[int]:
    """Processes of jobs that were started below this test, and are still there."""
    ours = f"PYTEST_CURRENT_TEST={os.environ['PYTEST_CURRENT_TEST']}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "environ").read_bytes().split(b"\0")
            if ours in words and any(word.startswith(b"MPIGAUGE_JOB=") for word in words):
                found.append(int(folder.name))
    return found


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    os.kill(pid, number)


def preload(folder: Path, source: str) -> Path:
    """A library that takes the place of functions of the MPI."""
    path = folder / "instead.so"
    file = folder / "instead.c"
    file.write_text(source)
    compiler = shutil.which("gcc") or shutil.which("cc") or "c++"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(path), str(file)], check=True)
    return path


def values(stored: Run) -> set[tuple[object, ...]]:
    """What was measured: cells with their numbers."""
    return {(cell.launch, cell.key, cell.time_p50_s, cell.samples) for cell in stored.cells}
