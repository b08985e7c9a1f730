# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A campaign of another process, as its folder shows it; nothing is written or locked."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from mpigauge.measuring.campaign.budget import left_s
from mpigauge.measuring.campaign.results import Results
from mpigauge.measuring.campaign.resume import plan_of
from mpigauge.measuring.campaign.run import LAUNCHER
from mpigauge.measuring.campaign.state import CampaignState, LaunchOutcome
from mpigauge.model.moments import moment_of
from mpigauge.model.record import Figure
from mpigauge.runs.store.writer import is_locked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.runs.store import Run

SILENCE_S = 60.0
"""Beyond the time after which a campaign itself ends a silent launch."""


def is_abandoned(stored: Run) -> bool:
    """True if the process that measured a run was killed. Its lock shows that on its own host; from
    others, files that nobody has written for longer than any launch may be silent."""
    if stored.status:
        return False
    locked = is_locked(stored.path)
    machine = stored.passport.get("machine") or {}
    if locked is None or (not locked and machine.get("hostname") != os.uname().nodename):
        return time.time() - _changed_s(stored) > plan_of(stored).timeout_s + SILENCE_S
    return not locked


def _changed_s(stored: Run) -> float:
    """The time of the last write to any file of the run, in seconds since 1970."""
    newest_s = 0.0
    for path in (stored.path, *stored.path.rglob("*")):
        with suppress(OSError):
            newest_s = max(newest_s, path.stat().st_mtime)
    return newest_s


def state_of(stored: Run, now: datetime | None = None) -> CampaignState:
    """The progress of a run. UserError: it was not measured here, so there is no plan to follow."""
    plan = plan_of(stored)
    results = Results(plan.precision, stored.cells, plan.benchmarks)
    for figure in stored.of(Figure):
        results.add(figure)
    begun = [launch.launch for launch in stored.launches]
    state = CampaignState(plan, results, launch=max(begun, default=0), watched=True)
    state.outcomes = outcomes_of(stored)
    moment = now or datetime.now(timezone.utc)
    state.elapsed_s = _elapsed_s(stored, moment)
    going_on = "measuring" if begun else "starting"
    state.activity = str(stored.status.get("status") or going_on)
    if not stored.status:
        spent_s = _spent_s(stored, state.outcomes, moment)
        state.left_s = left_s(plan, state.outcomes, len(state.outcomes), spent_s)
    state.remarks = [each.message for each in stored.failures if each.rank == LAUNCHER]
    return state


def outcomes_of(stored: Run) -> list[LaunchOutcome]:
    """Launches that have ended, in the order in which they did."""
    outcomes = {}
    for end in stored.ends:
        outcomes[end.launch] = LaunchOutcome(
            launch=end.launch,
            ended=True,
            interrupted=end.stopped == "interrupted",
            cells=end.cells,
            wall_s=end.seconds,
            measuring_s=end.measuring_s,
        )
    for failure in stored.failures:
        if failure.rank == LAUNCHER:
            outcome = outcomes.get(failure.launch, LaunchOutcome(launch=failure.launch))
            outcomes[failure.launch] = replace(outcome, reason=failure.message)
    return list(outcomes.values())


def _elapsed_s(stored: Run, now: datetime) -> float:
    """Seconds since the run was made; until it ended, if it has."""
    begun = moment_of(stored.header.get("created"))
    if begun is None:
        return 0.0
    ended = moment_of(stored.status.get("ended")) or now
    return max(0.0, (ended - begun).total_seconds())


def _spent_s(stored: Run, outcomes: Sequence[LaunchOutcome], now: datetime) -> float:
    """Seconds that launches took, the one that is going on too."""
    ended = {outcome.launch for outcome in outcomes}
    going = 0.0
    for launch in stored.launches:
        begun = moment_of(launch.time)
        if launch.launch not in ended and begun:
            going = max(going, (now - begun).total_seconds())
    return sum(outcome.wall_s for outcome in outcomes) + going
