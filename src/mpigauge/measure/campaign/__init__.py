# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes the launches of a plan, one after the other, and stores their results."""

from __future__ import annotations

from mpigauge.measure.campaign.in_turn import run_in_turn
from mpigauge.measure.campaign.job import check_told
from mpigauge.measure.campaign.results import Results
from mpigauge.measure.campaign.resume import resumed
from mpigauge.measure.campaign.run import Ending
from mpigauge.measure.campaign.state import CampaignState, View
from mpigauge.measure.campaign.task import CampaignTask, Remeasure

__all__ = [
    "CampaignState",
    "CampaignTask",
    "Ending",
    "Remeasure",
    "Results",
    "View",
    "check_told",
    "resumed",
    "run_in_turn",
]
