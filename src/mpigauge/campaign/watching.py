# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A campaign that another process makes, as its folder tells; nothing is written or locked."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from mpigauge.campaign.results import Results
from mpigauge.campaign.resume import plan_of
from mpigauge.campaign.run import LAUNCHER
from mpigauge.campaign.state import Outcome, State
from mpigauge.model.record import Figure
from mpigauge.stats.launches import LEAST_FOR_INTERVAL
from mpigauge.store.files import moment_of

if TYPE_CHECKING:
    from mpigauge.store import Run


def state_of(stored: Run, now: datetime | None = None) -> State:
    """How far a run is. UserError: it was not measured here, so there is no plan to follow."""
    plan = plan_of(stored)
    results = Results(plan.precision, stored.cells, plan.benchmarks)
    for figure in stored.of(Figure):
        results.add(figure)
    begun = [launch.launch for launch in stored.launches]
    state = State(plan, results, launch=max(begun, default=0), watched=True)
    state.outcomes = outcomes_of(stored)
    state.elapsed_s = _elapsed_s(stored, now or datetime.now(timezone.utc))
    state.activity = str(stored.status.get("status") or ("measuring" if begun else "starting"))
    state.left_s = None if stored.status else _left_s(state)
    state.remarks = [f.message for f in stored.failures if f.rank == LAUNCHER]
    return state


def outcomes_of(stored: Run) -> list[Outcome]:
    """Launches that have ended, in the order in which they did."""
    failed = {f.launch: f.message for f in stored.failures if f.rank == LAUNCHER}
    ended = {end.launch: end for end in stored.ends}
    return [
        Outcome(
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


def _left_s(state: State) -> float | None:
    """As long as the launches that were made took, for those that are missing at least."""
    done = len(state.outcomes)
    if not done:
        return None
    wanted = (state.plan.launches or LEAST_FOR_INTERVAL) * len(state.plan.parts)
    left = state.elapsed_s / done * max(0, wanted - done)
    spare = None if state.plan.seconds is None else max(0.0, state.plan.seconds - state.elapsed_s)
    return left if spare is None else spare
