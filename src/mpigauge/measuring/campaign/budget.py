# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Divides a time budget among launches. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.measuring.campaign.state import LaunchOutcome
from mpigauge.measuring.plan import Plan
from mpigauge.result.stats.order import LOOKS, median

FIRST_OVERHEAD_S = 0.35
"""The assumed time to start and end a job before the first one; later launches get less if it takes
longer, and more if it takes less."""
MOST_OVERHEAD = 0.1
"""Share of the time for starting jobs, once there are enough launches for an interval."""
LEAST_S = 0.05
"""The shortest measuring time that is worth a launch."""
CELL_S = 10.0
"""The most seconds for one cell over all launches without a time budget; each launch makes at least
one call."""
_PLANNED = 0.6
"""Share of that for the launches that are always made."""


def cell_s(plan: Plan, launch: int) -> float:
    """Seconds for a cell in this launch; 0: only the total time limits it."""
    if plan.seconds is not None:
        return 0.0
    planned, later = plan.least_rounds, plan.most_rounds - plan.least_rounds
    if not later:
        return CELL_S / planned
    if plan.round(launch) < planned:
        return _PLANNED * CELL_S / planned
    return (1 - _PLANNED) * CELL_S / later


def overhead_s(outcomes: Sequence[LaunchOutcome]) -> float:
    """The median time of a launch besides measuring, in seconds."""
    seen = [each.wall_s - each.measuring_s for each in outcomes if each.ended]
    if not seen:
        return FIRST_OVERHEAD_S
    return max(0.0, median(seen))


def round_s(plan: Plan, outcomes: Sequence[LaunchOutcome]) -> float:
    """The usual time of a round, which is a launch of each part, in seconds; 0: unknown."""
    parts = len(plan.parts)
    walls = [each.wall_s for each in outcomes if each.ended]
    if len(walls) < parts:
        return 0.0
    return parts * median(walls)


def rounds(plan: Plan, overhead: float) -> int:
    """Launches of each part: at most a tenth of the time is for starting them, and their number is
    one at which the interval is checked, since a few more would add nothing."""
    if plan.seconds is None:
        return plan.least_rounds
    affordable = int(plan.seconds * MOST_OVERHEAD / (max(overhead, LEAST_S) * len(plan.parts)))
    looks = [look for look in LOOKS if look <= min(plan.most_rounds, affordable)]
    return max([plan.least_rounds, *looks])


def target(plan: Plan, begun: int, overhead: float) -> int:
    """The number of rounds, given those that have begun: the planned ones, then as many as there
    are until the interval is checked again."""
    planned = rounds(plan, overhead)
    if begun < planned:
        return planned
    later = [look for look in LOOKS if look > begun]
    return min([*later, plan.most_rounds])


def left_s(
    plan: Plan, outcomes: Sequence[LaunchOutcome], made: int, spent_s: float
) -> float | None:
    """The estimated remaining seconds: the rest of the total time, else the mean time of finished
    launches for each that is missing at least. None: there was none yet. `made`: launches that need
    not be made; `spent_s`: the time of launches so far."""
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
    `begins_round`: True if it is the first launch of its round; None: by its number.

    A round, once begun, is finished: a part with one launch less would be less precise than the
    others. If the planned rounds leave time, more follow as long as there is enough for all until
    the interval is checked again, at their usual length.
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
    """The rounds for which there must be time to begin another one: none if it is planned, else all
    until the interval is checked again."""
    if begun < rounds(plan, overhead):
        return 0
    if begun in LOOKS:
        return target(plan, begun, overhead) - begun
    return 1
