# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Faults of stored runs: damage, and times that go back. They are reported, never fatal."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from mpigauge.model.moments import moment_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.runs.store import Run

AHEAD = timedelta(minutes=10)
"""The tolerated difference between clocks of machines that share a folder."""


def faults(run: Run) -> list[str]:
    """The faults of one run: a sentence for each damaged piece, and for each time that goes
    back."""
    damage = (sentence.replace(str(run.path), run.path.name) for sentence in run.damaged)
    return [*damage, *_back(run)]


def ahead(created: Mapping[str, str], now: datetime) -> list[str]:
    """Returns a sentence for each run created in the future. `created`: by run; `now`: UTC."""
    late = now + AHEAD
    return [
        f"{name} was created at {text}, which is in the future: a clock was or is wrong"
        for name, text in created.items()
        if (moment := moment_of(text)) and moment > late
    ]


def _back(run: Run) -> list[str]:
    """Launches are recorded in the order in which they ran, so their times only rise."""
    return [
        f"launch {later.launch} of {run.path.name} claims to begin at {later.time}, before launch "
        f"{first.launch} at {first.time}: the clock was set back"
        for first, later in pairwise(run.launches)
        if (one := moment_of(first.time)) and (two := moment_of(later.time)) and two < one
    ]
