# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes the launches of a plan, one after the other, and keeps what each of them brings."""

from __future__ import annotations

from mpigauge.measure.campaign.beside import Task, run_beside
from mpigauge.measure.campaign.job import check_told
from mpigauge.measure.campaign.results import Results
from mpigauge.measure.campaign.resume import resume, resumed
from mpigauge.measure.campaign.run import Again, Ending, run
from mpigauge.measure.campaign.state import State, View

__all__ = [
    "Again",
    "Ending",
    "Results",
    "State",
    "Task",
    "View",
    "check_told",
    "resume",
    "resumed",
    "run",
    "run_beside",
]
