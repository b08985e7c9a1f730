# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A campaign that another process makes, as its folder tells; nothing is written or locked."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from mpigauge.measure.campaign.budget import left_s
from mpigauge.measure.campaign.results import Results
from mpigauge.measure.campaign.resume import plan_of
from mpigauge.measure.campaign.run import LAUNCHER
from mpigauge.measure.campaign.state import CampaignState, LaunchOutcome
from mpigauge.model.moments import moment_of
from mpigauge.model.record import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.runs.store import Run


def state_of(stored: Run, now: datetime | None = None) -> CampaignState:
    """How far a run is. UserError: it was not measured here, so there is no plan to follow."""
    plan = plan_of(stored)
    results = Results(plan.precision, stored.cells, plan.benchmarks)
    for figure in stored.of(Figure):
        results.add(figure)
    begun = [launch.launch for launch in stored.launches]
    state = CampaignState(plan, results, launch=max(begun, default=0), watched=True)
    state.outcomes = outcomes_of(stored)
    moment = now or datetime.now(timezone.utc)
    state.elapsed_s = _elapsed_s(stored, moment)
    state.activity = str(stored.status.get("status") or ("measuring" if begun else "starting"))
    made, spent_s = len(state.outcomes), _spent_s(stored, state.outcomes, moment)
    state.left_s = None if stored.status else left_s(plan, state.outcomes, made, spent_s)
    state.remarks = [f.message for f in stored.failures if f.rank == LAUNCHER]
    return state


def outcomes_of(stored: Run) -> list[LaunchOutcome]:
    """Launches that have ended, in the order in which they did."""
    failed = {f.launch: f.message for f in stored.failures if f.rank == LAUNCHER}
    ended = {end.launch: end for end in stored.ends}
    return [
        LaunchOutcome(
            launch=number,
            reason=failed.get(number, ""),
            ended=number in ended,
            interrupted=number in ended and ended[number].stopped == "interrupted",
            cells=ended[number].cells if number in ended else 0,
            wall_s=ended[number].seconds if number in ended else 0.0,
            measuring_s=ended[number].measuring_s if number in ended else 0.0,
        )
        for number in dict.fromkeys([*ended, *failed])
    ]


def _elapsed_s(stored: Run, now: datetime) -> float:
    """Since the run was made; until it ended, if it has."""
    begun = moment_of(stored.header.get("created"))
    ended = moment_of(stored.status.get("ended")) or now
    return max(0.0, (ended - begun).total_seconds()) if begun else 0.0


def _spent_s(stored: Run, outcomes: Sequence[LaunchOutcome], now: datetime) -> float:
    """What launches took, the one that is going on too."""
    ended = {outcome.launch for outcome in outcomes}
    begun = [moment_of(each.time) for each in stored.launches if each.launch not in ended]
    going = max(((now - each).total_seconds() for each in begun if each), default=0.0)
    return sum(outcome.wall_s for outcome in outcomes) + max(0.0, going)
