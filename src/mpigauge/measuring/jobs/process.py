# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A launcher and its children: started, read line by line, and killed with all its children."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from mpigauge.measuring.jobs.watchdog import MARK, watchdog
from mpigauge.model.errors import RunError
from mpigauge.site.launch import Command
from mpigauge.site.launch.left_session import remove_left_session
from mpigauge.site.launch.leftovers import Watched

MOST_OF_A_LINE = 1 << 26
TICK_S = 0.1
DRAIN_S = 2.0
"""Seconds for which output may still arrive after the launcher has ended."""
EXEC_S = 0.01
"""Seconds for which a process in the middle of exec may show no environment."""


class OutputLine(NamedTuple):
    stream: str
    """stdout or stderr."""
    text: str


class LauncherProcess:
    """A launcher in a session of its own, so that Ctrl-C on the terminal only reaches mpigauge."""

    def __init__(self, command: Command) -> None:
        self._watchdog = watchdog()
        self._mark = self._watchdog.new_mark()
        self._lines: queue.SimpleQueue[OutputLine | None] = queue.SimpleQueue()
        self._open = 2
        self._terminated = False
        self._env = {**os.environ, **command.env, MARK: self._mark}
        begun = time.time()
        try:
            self._process = subprocess.Popen(
                command.words,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise RunError(f"cannot start {command.words[0]}: {error.strerror}") from None
        self._watchdog.job_started(self._process.pid)
        self._watched = Watched(self._process.pid, self._env, self._watchdog.files_noted)
        remove_left_session(self._process.pid, self._env, begun)
        self._follow("stdout", self._process.stdout)
        self._follow("stderr", self._process.stderr)

    def lines(self) -> Iterator[OutputLine | None]:
        """All lines until the job has ended; None now and then, if there is no output."""
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

    def leave_alone(self) -> None:
        """Ends all inspection of the job's processes, since they begin to measure."""
        self._watched.look()
        self._watched.rest()

    def terminate(self) -> None:
        """Asks the launcher to end its job; a second call kills the job."""
        if self._terminated:
            self.kill()
            return
        self._terminated = True
        self._watched.look()
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kills every visible process of the job."""
        if self._process.poll() is None:
            self._watched.look()
        self._signal(signal.SIGKILL)
        strays = self.strays()
        self._watched.left.note(strays)
        for process in strays:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)

    def close(self, later: Callable[[Callable[[], None]], None] | None = None) -> int:
        """Kills the rest of the job, and returns the launcher's exit status, negative for a signal.

        A process in the middle of exec shows no environment for a moment, so the search is
        repeated; then the job's files outside mpigauge's folders are removed. `later` takes the
        function that does both; without `later` they are done at once.
        """
        try:
            status = self._process.wait(timeout=DRAIN_S)
        except subprocess.TimeoutExpired:
            self.kill()
            status = self._process.wait()
        self.kill()
        closed_s = time.monotonic()
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()

        def clean_up() -> None:
            time.sleep(max(0.0, closed_s + EXEC_S - time.monotonic()))
            self.kill()
            self._watched.remove()
            self._watchdog.job_ended(self._process.pid)

        (later or _at_once)(clean_up)
        return status

    @property
    def is_silent(self) -> bool:
        """True if no output is waiting to be read."""
        return self._lines.empty()

    def strays(self) -> list[int]:
        """Processes of this job that still exist."""
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


def _at_once(task: Callable[[], None]) -> None:
    task()


def _past(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() > deadline


def _processes() -> list[int]:
    proc = Path("/proc")
    names = [entry.name for entry in proc.iterdir()] if proc.is_dir() else []
    pids: list[int] = []
    for name in names:
        if name.isdigit() and int(name) != os.getpid():
            pids.append(int(name))
    return pids


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []
