# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The state of a running campaign, and the interface of its views."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from mpigauge.measuring.campaign.results import Results
from mpigauge.measuring.plan import Plan


@dataclass(frozen=True)
class LaunchOutcome:
    """The outcome of one launch."""

    launch: int
    reason: str = ""
    """The reason why it failed; empty: it did not."""
    ended: bool = False
    """True if its last record arrived."""
    interrupted: bool = False
    records: int = 0
    cells: int = 0
    wrong_count: int = 0
    wall_s: float = 0.0
    measuring_s: float = 0.0
    used: str = ""
    """The transport of its messages, as the MPI reported it; empty: it reported none."""

    @property
    def good(self) -> bool:
        return self.ended and not self.interrupted and not self.reason


@dataclass
class CampaignState:
    plan: Plan
    results: Results
    name: str = ""
    """A name that distinguishes it from others running next to it; empty: there are none."""
    watched: bool = False
    """True if another process measures, and this one only watches."""
    launch: int = 0
    activity: str = "starting"
    elapsed_s: float = 0.0
    left_s: float | None = None
    """The estimated remaining seconds; None: unknown yet."""
    outcomes: list[LaunchOutcome] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class View(Protocol):
    """Shows a campaign; computes nothing."""

    def show(self, state: CampaignState) -> None:
        """Shows the state; called a few times a second."""

    def launch_ended(self, state: CampaignState, outcome: LaunchOutcome) -> None: ...

    def close(self) -> None: ...
