# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Estimates the time of a plan from earlier launches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from mpigauge.measuring.campaign.budget import FIRST_OVERHEAD_S
from mpigauge.measuring.plan.schedule import schedule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.measuring.plan import Plan, PlanPart
    from mpigauge.measuring.plan.schedule import Schedule

CELL_S = 0.05
"""The assumed time of a cell without earlier runs: the order of magnitude for a pair of ranks at ±5
%. Collectives on many ranks, slow networks and busy nodes take longer."""
ROUND_S = 0.05
"""Communicators and fresh buffers for each round of pairs: 5 to 10 ms on 2 cores, with room for
128."""


@dataclass(frozen=True)
class Rates:
    start_s: float = FIRST_OVERHEAD_S
    """Seconds to start and end a job."""
    cell_s: float = CELL_S
    """Seconds to measure a cell in one launch."""
    launches: int = 0
    """The number of launches that these are from; 0: they are assumed."""


@dataclass(frozen=True)
class Cost:
    launches: tuple[int, int]
    """The least number, and the most, if the precision is not reached."""
    cells: int
    """Cells in a round, which is a launch of each part."""
    seconds: tuple[float, float]
    rates: Rates
    bounded: bool
    """True if --time limits the seconds."""


def cost(plan: Plan, rates: Rates) -> Cost:
    parts, cells = len(plan.parts), sum(map(_cells, plan.parts))
    launches = (plan.least_rounds * parts, plan.most_rounds * parts)
    round_s = sum(rates.start_s + _measuring_s(part, rates) for part in plan.parts)
    seconds = (plan.least_rounds * round_s, plan.most_rounds * round_s)
    if plan.seconds is not None:
        seconds = (min(seconds[0], plan.seconds), plan.seconds)
    return Cost(launches, cells, seconds, rates, plan.seconds is not None)


def _pairs(part: PlanPart) -> Schedule | None:
    """The schedule of a map. Placements that share a job are pairs too, each a cell of its own."""
    if part.pairs and not part.places:
        return schedule(part.pairs, part.world_ranks)
    return None


def _cells(part: PlanPart) -> int:
    made = _pairs(part)
    if made:
        return part.weight * made.pairs
    return part.weight


def _measuring_s(part: PlanPart, rates: Rates) -> float:
    """The measuring time of a part, whose pairs in a round measure at the same time."""
    made = _pairs(part)
    own = part.weight * rates.cell_s
    if made:
        return made.rounds * (ROUND_S + own)
    return own


def rates_of(statuses: Iterable[Mapping[str, Any]]) -> Rates:
    """Rates from status.json of runs with the same MPI; assumed ones without such runs."""
    launches = []
    for status in statuses:
        for each in status.get("launches") or ():
            if each.get("ended") and each.get("cells") and not each.get("interrupted"):
                launches.append(each)
    if not launches:
        return Rates()
    return Rates(
        start_s=median(each["wall_s"] - each["measuring_s"] for each in launches),
        cell_s=median(each["measuring_s"] / each["cells"] for each in launches),
        launches=len(launches),
    )
