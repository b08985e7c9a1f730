# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One line for each launch, for logs and pipes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from mpigauge.measure.live.phrases import launches, outcome_words, widest

if TYPE_CHECKING:
    from mpigauge.measure.campaign.state import CampaignState, LaunchOutcome


class LineView:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, state: CampaignState) -> None:
        """Nothing: a log wants no picture that moves."""

    def launch_ended(self, state: CampaignState, outcome: LaunchOutcome) -> None:
        words = [launches(state), outcome_words(outcome), widest(state)]
        with suppress(OSError):  # who reads it may have gone
            print("mpigauge: " + ", ".join(filter(None, words)), file=self._stream, flush=True)

    def close(self) -> None:
        """Nothing is open."""
