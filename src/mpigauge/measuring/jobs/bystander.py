# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Distinguishes a signal to the whole process group, such as Ctrl-C, from one to mpigauge alone."""

from __future__ import annotations

import subprocess
import time
from types import TracebackType

PATIENCE_S = 0.5
"""A signal to the group reaches all its processes at once; on a busy machine one may end later."""
SETTLED_S = 0.1
"""Seconds after the start of a bystander during which a signal may be older than it is."""


class Bystander:
    """A process in mpigauge's group that does nothing, and ends with a signal or with mpigauge.

    It must be entered after mpigauge's own handlers are installed: it would inherit an ignored
    signal.
    """

    def __enter__(self) -> Bystander:
        self._process = self._started()
        self._since_s = 0.0
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def was_hit(self) -> bool:
        """True if a received signal went to the whole group. Another one may arrive before the next
        bystander has started; it is assumed to be of the same kind."""
        if time.monotonic() < self._since_s:
            return True
        try:
            self._process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            return False
        self._process.communicate()
        self._process = self._started()
        self._since_s = time.monotonic() + SETTLED_S
        return True

    @staticmethod
    def _started() -> subprocess.Popen[bytes]:
        """A new bystander; its input ends when mpigauge ends, which holds the only other end."""
        return subprocess.Popen(
            ["sh", "-c", "read -r _"],
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
