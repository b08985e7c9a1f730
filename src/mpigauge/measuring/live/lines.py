# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A line for each launch, for logs and pipes; at most one per second if launches are short."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from mpigauge.measuring.live.phrases import launches, outcome_words, widest

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.measuring.campaign.state import CampaignState, LaunchOutcome

APART_S = 1.0
"""Seconds between two lines, unless a launch failed or was interrupted."""


class LineView:
    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._last = -APART_S
        self._waiting: dict[str, str] = {}
        """The newest line of each campaign that came too soon after another."""

    def show(self, state: CampaignState) -> None:
        """Shows nothing: a log has no animation."""

    def launch_ended(self, state: CampaignState, outcome: LaunchOutcome) -> None:
        words = [launches(state, outcome.launch), outcome_words(outcome), widest(state)]
        self._waiting.pop(state.name, None)
        self._waiting[state.name] = "mpigauge: " + ", ".join(filter(None, words))
        wrong = outcome.reason or outcome.interrupted
        if wrong or self._clock() - self._last >= APART_S:
            self._print(self._waiting.pop(state.name))

    def close(self) -> None:
        """Prints the last launch of each campaign in any case."""
        for line in self._waiting.values():
            self._print(line)
        self._waiting = {}

    def _print(self, line: str) -> None:
        with suppress(OSError):  # who reads it may have gone
            print(line, file=self._stream, flush=True)
        self._last = self._clock()
