# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a campaign knows while it runs, and who may look at it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from mpigauge.measure.campaign.results import Results
from mpigauge.measure.plan import Plan


@dataclass(frozen=True)
class LaunchOutcome:
    """How one launch went."""

    launch: int
    reason: str = ""
    """Why it failed; empty: it did not."""
    ended: bool = False
    """Its last record came."""
    interrupted: bool = False
    records: int = 0
    cells: int = 0
    wrong_count: int = 0
    wall_s: float = 0.0
    measuring_s: float = 0.0
    used: str = ""
    """What carried its messages, as the MPI told it; empty: it told nothing."""

    @property
    def good(self) -> bool:
        return self.ended and not self.interrupted and not self.reason


@dataclass
class CampaignState:
    plan: Plan
    results: Results
    name: str = ""
    """What tells it from others that run beside it; empty where there are none."""
    watched: bool = False
    """By another process than the one that measures."""
    launch: int = 0
    activity: str = "starting"
    elapsed_s: float = 0.0
    left_s: float | None = None
    """About how long it will take; None: not known yet."""
    outcomes: list[LaunchOutcome] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class View(Protocol):
    """Shows a campaign; computes nothing."""

    def show(self, state: CampaignState) -> None:
        """Called a few times a second."""

    def launch_ended(self, state: CampaignState, outcome: LaunchOutcome) -> None: ...

    def close(self) -> None: ...
