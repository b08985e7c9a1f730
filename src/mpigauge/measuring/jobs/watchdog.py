# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A shell that ends the jobs of this process if the process dies without ending them."""

from __future__ import annotations

import atexit
import os
import subprocess
import threading
from contextlib import suppress

from mpigauge.measuring.jobs.agent import python_line

MARK = "MPIGAUGE_JOB"
"""A variable that every process of a job inherits, in any session."""

_SCRIPT = """
jobs=
files=
while read -r event job; do
  case $event in
    start) jobs="$jobs $job" ;;
    files) files=$job ;;
    end)
      left=
      for each in $jobs; do
        [ "$each" = "$job" ] || left="$left $each"
      done
      jobs=$left ;;
  esac
done
[ "$jobs" ] || exit 0
kill -TERM $jobs
sleep 2
for environment in /proc/[0-9]*/environ; do
  if tr '\\0' '\\n' <"$environment" | grep -q "^$1"; then
    process=${environment#/proc/}
    kill -9 "${process%/environ}"
  fi
done
[ "$files" ] && printf '%s' "$files" | sh -c "$2"
"""
"""The script of the watchdog, whose input ends when this process ends. Launchers get two seconds to
end their jobs, also on other hosts; then every process with the mark is killed, since some
launchers' helpers outlive them. Finally the files are removed that the latest jobs left outside
mpigauge's folders."""
_REMOVE = """
from mpigauge.site.launch.leftovers import remove_noted
remove_noted()
"""


class Watchdog:
    """The watchdog of one process, for all its jobs."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._prefix = os.urandom(16).hex()
        self._jobs = 0
        self._lock = threading.Lock()
        """A lock, since threads that follow jobs also send lines."""
        self._shell: subprocess.Popen[bytes] | None = None
        """The shell, which starts with the first job, after the launcher."""

    @property
    def is_ours(self) -> bool:
        """False in a process that was forked from the owner."""
        return self._owner == os.getpid()

    def new_mark(self) -> str:
        """Returns the value of MARK for the processes of a new job."""
        self._jobs += 1
        return f"{self._prefix}-{self._jobs}"

    def job_started(self, launcher: int) -> None:
        if self._shell is None:
            self._shell = self._start()
        self._send(f"start {launcher}")

    def job_ended(self, launcher: int) -> None:
        self._send(f"end {launcher}")

    def files_noted(self, files: str) -> None:
        """Notes the files that running jobs have open outside mpigauge's folders, in one line."""
        self._send(f"files {files}")

    def _start(self) -> subprocess.Popen[bytes]:
        atexit.register(self._end)
        return subprocess.Popen(
            ["sh", "-c", _SCRIPT, "sh", f"{MARK}={self._prefix}-", python_line(_REMOVE, {})],
            env={"PATH": os.defpath},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _send(self, line: str) -> None:
        assert self._shell is not None
        assert self._shell.stdin is not None
        with self._lock, suppress(OSError):  # somebody has killed the shell
            os.write(self._shell.stdin.fileno(), f"{line}\n".encode())

    def _end(self) -> None:
        if self.is_ours and self._shell is not None:
            self._shell.communicate()


_watchdogs: list[Watchdog] = []


def watchdog() -> Watchdog:
    """Returns the watchdog of this process, which starts with the first call."""
    if not _watchdogs or not _watchdogs[-1].is_ours:
        _watchdogs.append(Watchdog())
    return _watchdogs[-1]
