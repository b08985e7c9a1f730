# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reports the progress of a build that takes long, with an estimate of the time that is left."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mpigauge.site.builds.folders import Tell

FIRST_S = 10.0
"""Seconds before the first report; a build that is shorter needs none."""
MOST_BETWEEN_S = 60.0
"""The maximum number of seconds between reports, which come at growing intervals."""
_TAIL_BYTES = 1 << 14
_STEPS = re.compile(rb"^\[(\d+)/(\d+)\]", re.MULTILINE)
"""Ninja: [12/240] Building CXX object …"""
_SHARE = re.compile(rb"^\[ *(\d+)%\]", re.MULTILINE)
"""Makefiles: [  5%] Building CXX object …"""


class BuildProgress:
    """The progress of one build. `log`: the file to which its tools write."""

    interval_s = 2.0
    """Seconds between two readings of the log."""

    def __init__(self, log: Path, tell: Tell, clock: Callable[[], float] = time.monotonic) -> None:
        self.log, self.tell, self.clock = log, tell, clock
        self.began_s = clock()
        self.next_s = self.began_s + FIRST_S

    def look(self) -> None:
        """Reports how far the build is, if it is time for a report."""
        now = self.clock()
        done = steps_done(self.log) if now >= self.next_s else None
        if done is None:
            return
        self.tell(f"building the kernels: {_words(*done, now - self.began_s)}")
        self.next_s = now + min(now - self.began_s, MOST_BETWEEN_S)


def steps_done(log: Path) -> tuple[int, int] | None:
    """Returns the last number of steps in the log, and their total; None: the log has no step."""
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - _TAIL_BYTES, 0))
        text = file.read()
    if steps := _STEPS.findall(text):
        done, count = map(int, steps[-1])
        return done, count
    if shares := _SHARE.findall(text):
        return int(shares[-1]), 100
    return None


def _words(done: int, count: int, spent_s: float) -> str:
    """The progress in words: 120 of 286 steps, about 3 min left."""
    progress = f"{done} %" if count == 100 else f"{done} of {count} steps"
    if not 0 < done < count:
        return progress
    left_s = spent_s * (count - done) / done
    if left_s < 90:
        return f"{progress}, about {max(round(left_s, -1), 10):.0f} s left"
    return f"{progress}, about {left_s / 60:.0f} min left"
