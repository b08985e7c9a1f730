# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Bookkeeping of finished launches, done while the next one starts.

A launch spends its first milliseconds in MPI_Init and measures nothing. Data that must survive the
death of the next launch is not bookkeeping: it is on disk before that launch starts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

Task = Callable[[], None]


class Backlog:
    def __init__(self) -> None:
        self._tasks: deque[Task] = deque()

    def add(self, task: Task) -> None:
        self._tasks.append(task)

    def work(self, may_go_on: Callable[[], bool] = lambda: True) -> None:
        """Runs the tasks in order until none is left or `may_go_on` returns False."""
        while self._tasks and may_go_on():
            self._tasks.popleft()()
