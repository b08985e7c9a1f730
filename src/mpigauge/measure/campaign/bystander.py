# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tells a signal to our whole process group, such as Ctrl-C of a terminal, from one to us alone."""

from __future__ import annotations

import subprocess
import time
from types import TracebackType

PATIENCE_S = 0.5
"""A signal to the group is with all its processes at once; on a busy machine one ends later."""
SETTLED_S = 0.1
"""After a bystander has started, signals may be older than it is."""


class Bystander:
    """A process of our group that does nothing, and ends when a signal reaches it or when we do.

    To be entered after our own handlers are installed: it would inherit an ignored signal.
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
        """True if a signal that we have received went to the whole group. Another one may come
        before the next bystander is there; it is taken for one of the same kind."""
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
        """The end of its input is the end of us, as only we hold the other side."""
        return subprocess.Popen(
            ["sh", "-c", "read -r _"],
            env={},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
