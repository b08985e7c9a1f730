# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A launcher and everything below it: started, read line by line, and ended without a rest."""

from __future__ import annotations

import ctypes
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from mpigauge.model.errors import RunError
from mpigauge.site.launch import Command
from mpigauge.site.launch.left_session import remove_left_session

MARK = "MPIGAUGE_JOB"
"""A variable that every process of a job inherits, whatever session its launcher puts it in."""
MOST_OF_A_LINE = 1 << 26
TICK_S = 0.1
DRAIN_S = 2.0
"""How long output may still come after the launcher has ended."""
SECOND_LOOK_S = 0.01
_PR_SET_PDEATHSIG = 1


_SWEEP = """
read -r _ && exit 0
sleep 2
for environment in /proc/[0-9]*/environ; do
  if tr '\\0' '\\n' <"$environment" | grep -qx "$1"; then
    process=${environment#/proc/}
    kill -9 "${process%/environ}"
  fi
done
"""
"""Ends what a job left when we are gone without a word: some launchers' helpers outlive them. The
launcher, which the system has told, has two seconds to end ranks on other hosts."""


class OutputLine(NamedTuple):
    stream: str
    """stdout or stderr"""
    text: str


class LauncherProcess:
    """Runs in a session of its own, so that a Ctrl-C of the terminal reaches only us."""

    def __init__(self, command: Command) -> None:
        self._mark = os.urandom(16).hex()
        self._lines: queue.SimpleQueue[OutputLine | None] = queue.SimpleQueue()
        self._open = 2
        self._terminated = False
        self._env = {**os.environ, **command.env, MARK: self._mark}
        try:
            self._process = subprocess.Popen(
                command.words,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=_before_launcher(self._env),  # noqa: PLW1509  (it takes no lock)
            )
        except OSError as error:
            raise RunError(f"cannot start {command.words[0]}: {error.strerror}") from None
        self._guard = _guard(f"{MARK}={self._mark}")
        self._follow("stdout", self._process.stdout)
        self._follow("stderr", self._process.stderr)

    def lines(self) -> Iterator[OutputLine | None]:
        """All lines until the job has ended; None now and then, when none has come."""
        ended_at: float | None = None
        while self._open and not _past(ended_at):
            try:
                line = self._lines.get(timeout=TICK_S)
            except queue.Empty:
                yield None
            else:
                self._open -= line is None
                if line is not None:
                    yield line
            if ended_at is None and self._process.poll() is not None:
                ended_at = time.monotonic() + DRAIN_S

    def terminate(self) -> None:
        """Asks the launcher to end its job; the second time nobody is asked."""
        if self._terminated:
            self.kill()
            return
        self._terminated = True
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Looks twice: a process in the middle of exec shows no environment for a moment."""
        self._signal(signal.SIGKILL)
        for pause_s in (0, SECOND_LOOK_S):
            time.sleep(pause_s)
            for process in self.strays():
                with suppress(OSError):
                    os.kill(process, signal.SIGKILL)

    def close(self) -> int:
        """The exit status, negative for a signal; nothing of the job runs afterwards."""
        try:
            status = self._process.wait(timeout=DRAIN_S)
        except subprocess.TimeoutExpired:
            self.kill()
            status = self._process.wait()
        self.kill()
        remove_left_session(self._process.pid, self._env)
        self._guard.communicate(b"\n")
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()
        return status

    def strays(self) -> list[int]:
        """Processes of this job that are still there."""
        mark = f"{MARK}={self._mark}".encode()
        return [pid for pid in _processes() if mark in _environment(pid)]

    def _signal(self, number: signal.Signals) -> None:
        with suppress(OSError):
            os.killpg(self._process.pid, number)

    def _follow(self, name: str, stream: IO[bytes] | None) -> None:
        assert stream is not None
        threading.Thread(target=self._read, args=(name, stream), daemon=True).start()

    def _read(self, name: str, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError):
            while line := stream.readline(MOST_OF_A_LINE):
                self._lines.put(OutputLine(name, line.decode("utf-8", "replace")))
        self._lines.put(None)


def _guard(mark: str) -> subprocess.Popen[bytes]:
    """Waits for a line from us, or for our end: only we hold the other end of its input."""
    return subprocess.Popen(
        ["sh", "-c", _SWEEP, "sh", mark],
        env={"PATH": os.defpath},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _past(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline


def _before_launcher(env: Mapping[str, str]) -> Callable[[], None]:
    """What a child does before it becomes the launcher: it asks the system to end it with us, since
    a killed mpigauge must not leave ranks spinning."""
    control = ctypes.CDLL(None).prctl if sys.platform.startswith("linux") else None

    def prepare() -> None:
        if control:
            control(_PR_SET_PDEATHSIG, signal.SIGTERM)
        remove_left_session(os.getpid(), env)

    return prepare


def _processes() -> list[int]:
    proc = Path("/proc")
    names = [entry.name for entry in proc.iterdir()] if proc.is_dir() else []
    found: list[int] = []
    for name in names:
        if name.isdigit() and int(name) != os.getpid():
            found.append(int(name))
    return found


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
