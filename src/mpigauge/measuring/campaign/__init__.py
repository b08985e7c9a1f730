# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes the launches of a plan, one after the other, and stores their results."""

from __future__ import annotations

from mpigauge.measuring.campaign.in_turn import run_in_turn
from mpigauge.measuring.campaign.results import Results
from mpigauge.measuring.campaign.run import Ending
from mpigauge.measuring.campaign.state import CampaignState, View
from mpigauge.measuring.campaign.task import CampaignTask, Remeasure
from mpigauge.measuring.jobs.job import check_told

__all__ = [
    "CampaignState",
    "CampaignTask",
    "Ending",
    "Remeasure",
    "Results",
    "View",
    "check_told",
    "run_in_turn",
]
