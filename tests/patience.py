# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How long tests wait before they take something to hang: longer where the machine is busy.

A second in which four processes want each core counts as a quarter of a second.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mpigauge.site.topology.busy import load_of_a_core

USUAL_S = 120.0
"""On a machine that has nothing else to do."""
TICK_S = 1.0


class Patience:
    """A clock that goes slower the more there is to do, and runs out."""

    def __init__(
        self,
        seconds: float,
        now: Callable[[], float] = time.monotonic,
        load: Callable[[], float] = load_of_a_core,
    ) -> None:
        self._left, self._now, self._load = seconds, now, load
        self._seen = now()

    def is_over(self) -> bool:
        """Whether it has run out by now; to be asked every second or so."""
        now = self._now()
        self._left -= (now - self._seen) / max(1.0, self._load())
        self._seen = now
        return self._left <= 0


def communicate(process: subprocess.Popen[str], seconds: float = USUAL_S) -> tuple[str, str]:
    """What a process says until its end; raises TimeoutExpired where it hangs."""
    patience = Patience(seconds)
    while True:
        try:
            return process.communicate(timeout=TICK_S)
        except subprocess.TimeoutExpired:
            if patience.is_over():
                raise


def run(
    words: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float = USUAL_S,
    errors: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end, whatever its status, and gives what it said."""
    with subprocess.Popen(
        words,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    ) as process:
        try:
            said = communicate(process, seconds)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(words, process.returncode, *said)


def wait_for(what: Callable[[], object], seconds: float = USUAL_S) -> None:
    """Until it is true; fails the test where it does not become so."""
    patience = Patience(seconds)
    while not what():
        assert not patience.is_over(), "waited too long"
        time.sleep(0.05)
