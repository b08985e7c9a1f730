# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Counts interrupt signals. Nothing is raised: the measuring code checks them and ends cleanly."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
URGENT = (signal.SIGTERM, signal.SIGHUP)
"""Signals whose sender kills the process soon afterwards, or is gone."""


class Interrupt:
    def __init__(self) -> None:
        self.count = 0
        self.is_urgent = False
        self._before: dict[signal.Signals, Any] = {}

    def wish(self, number: int, _: FrameType | None = None) -> None:
        self.count += 1
        self.is_urgent = self.is_urgent or number in URGENT

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is not threading.main_thread():
            return self  # only the main thread takes signals
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self.wish)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
