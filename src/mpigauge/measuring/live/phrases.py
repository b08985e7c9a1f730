# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Phrases that both views share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.model.units import byte_count, duration

if TYPE_CHECKING:
    from mpigauge.measuring.campaign.state import CampaignState, LaunchOutcome


def launches(state: CampaignState, launch: int) -> str:
    """The launch, such as launch 3 of 6–20; with its part and, if there are several, its
    campaign."""
    plan = state.plan
    least, most = plan.least_rounds, plan.most_rounds
    of = f"{least}" if least == most else f"{least}–{most}"
    parts = len(plan.parts)
    which = f"{launch % parts + 1} of {parts}"
    arm = plan.part(launch).arm
    part = (f" ({which}: {arm})" if arm else f" (part {which})") if parts > 1 else ""
    name = f"{state.name}: " if state.name else ""
    return f"{name}launch {plan.round(launch) + 1} of {of}{part}"


def outcome_words(outcome: LaunchOutcome) -> str:
    if outcome.reason:
        return f"failed: {outcome.reason}"
    cells = f"{outcome.cells} cell{'s' * (outcome.cells != 1)} in {duration(outcome.wall_s)}"
    if outcome.interrupted:
        return f"{cells}, interrupted"
    return cells


def widest(state: CampaignState) -> str:
    """The widest error so far, with its row."""
    row = state.results.widest()
    if row is None:
        return ""
    who = f"{row.benchmark} {byte_count(row.message_bytes)}".rstrip()
    return f"widest {row.error_words} ({who})"


def time_left(state: CampaignState) -> str:
    if state.left_s is None or not math.isfinite(state.left_s):
        return ""
    return f"about {clock(state.left_s)} left"


def clock(seconds: float) -> str:
    """A time such as 12 s, or 3:05."""
    whole = math.ceil(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60}:{whole % 60:02d}"
