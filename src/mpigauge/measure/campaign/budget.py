# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Shares a time budget out to launches. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.measure.campaign.state import LaunchOutcome
from mpigauge.measure.plan import Plan
from mpigauge.result.stats.order import LOOKS, median

FIRST_OVERHEAD_S = 0.35
"""Assumed for starting and ending a job before one was seen: where it takes longer, the launches
that follow get less, and where it takes less, they get more."""
MOST_OVERHEAD = 0.1
"""Share of the time that may go into starting jobs, once there are enough for an interval."""
LEAST_S = 0.05
"""Measuring for less is not worth a launch."""
CELL_S = 10.0
"""The most that one cell takes over all launches unless there is a time for everything; each
launch makes one call in any case."""
_PLANNED = 0.6
"""Share of that for the launches that are made in any case."""


def cell_s(plan: Plan, launch: int) -> float:
    """Seconds that a cell may take in this launch; 0: the time for everything bounds it."""
    if plan.seconds is not None:
        return 0.0
    planned, later = plan.least_rounds, plan.most_rounds - plan.least_rounds
    if not later:
        return CELL_S / planned
    if plan.round(launch) < planned:
        return _PLANNED * CELL_S / planned
    return (1 - _PLANNED) * CELL_S / later


def overhead_s(outcomes: Sequence[LaunchOutcome]) -> float:
    """What a launch takes beside measuring."""
    seen = [each.wall_s - each.measuring_s for each in outcomes if each.ended]
    if not seen:
        return FIRST_OVERHEAD_S
    return max(0.0, median(seen))


def round_s(plan: Plan, outcomes: Sequence[LaunchOutcome]) -> float:
    """What a round, a launch of each part, usually takes."""
    parts = len(plan.parts)
    walls = [each.wall_s for each in outcomes if each.ended]
    if len(walls) < parts:
        return 0.0
    return parts * median(walls)


def rounds(plan: Plan, overhead: float) -> int:
    """Launches of each part: so many that starting them takes a tenth of the time, and as many as
    an interval is looked at, since the few after that would tell nothing."""
    if plan.seconds is None:
        return plan.least_rounds
    affordable = int(plan.seconds * MOST_OVERHEAD / (max(overhead, LEAST_S) * len(plan.parts)))
    looks = [look for look in LOOKS if look <= min(plan.most_rounds, affordable)]
    return max([plan.least_rounds, *looks])


def target(plan: Plan, begun: int, overhead: float) -> int:
    """How many rounds there will be, where so many are over: those that were planned, then as many
    as it takes until the interval is looked at again."""
    planned = rounds(plan, overhead)
    if begun < planned:
        return planned
    later = [look for look in LOOKS if look > begun]
    return min([*later, plan.most_rounds])


def left_s(
    plan: Plan, outcomes: Sequence[LaunchOutcome], made: int, spent_s: float
) -> float | None:
    """About how long the rest will take: what is left of the time that was given for everything;
    else, for the launches that are missing at least, as long as those that ended took. None: there
    was none yet. `made`: launches that need not be made any more; `spent_s`: what launches took."""
    if plan.seconds is not None:
        return max(0.0, plan.seconds - spent_s)
    walls = [each.wall_s for each in outcomes if each.ended]
    if not walls:
        return None
    missing = max(0, plan.least_rounds * len(plan.parts) - made)
    return sum(walls) / len(walls) * missing


def share(
    plan: Plan,
    launch: int,
    left_s: float,
    overhead: float,
    usual_round_s: float = 0.0,
    begins_round: bool | None = None,
) -> float | None:
    """Seconds of measuring for this launch; None: no time is left to begin another round.
    `begins_round`: whether it is the first of its round that is made; None: by its number.

    A round, once begun, is finished: a part with one launch less would know less than the others.
    Where the planned rounds leave time, more follow if there is enough of it for all until the
    interval is looked at again, of the usual length.
    """
    parts = len(plan.parts)
    place = launch % parts
    rest = parts - place
    least = overhead + LEAST_S
    begun = plan.round(launch)
    last = target(plan, begun, overhead)
    needed = max(parts * least, _rounds_to_begin(plan, begun, overhead) * usual_round_s)
    if begins_round is None:
        begins_round = place == 0
    if begins_round and launch > 0 and left_s < needed:
        return None
    fit = int((left_s - rest * least) / (parts * least))
    more = max(0, min(last - begun - 1, fit))
    begin = launch - place
    weights = [plan.part(number).weight for number in range(begin, begin + parts)]
    weight = sum(weights[place:]) + more * sum(weights)
    pool = left_s - (rest + more * parts) * overhead
    return max(LEAST_S, pool * weights[place] / weight)


def _rounds_to_begin(plan: Plan, begun: int, overhead: float) -> int:
    """How many rounds there has to be time for where another one begins: none of those that were
    planned, and of later ones all until the interval is looked at again."""
    if begun < rounds(plan, overhead):
        return 0
    if begun in LOOKS:
        return target(plan, begun, overhead) - begun
    return 1
