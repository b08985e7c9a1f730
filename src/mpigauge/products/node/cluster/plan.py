# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge node` on several hosts: all of them at once, and one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.compute.blas import with_blas
from mpigauge.measuring.plan.plan import Plan, PlanPart
from mpigauge.measuring.plan.resolve import plan_of
from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.errors import UserError
from mpigauge.products.node.node_suite import (
    ARRAY,
    CLOCKS,
    MEASURES,
    NOISE,
    OF_RANK,
    PEAKS,
    PRODUCTS,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.measuring.plan.request import Request
    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi

SECONDS, SECONDS_OF_HOST = 30.0, 4.0
MEMORY = ("Triad_tuned", "Chase_huge")
ALONE = "host="
"""The arm of a host that is measured while the others rest."""
AGAIN = "again"
"""The arm of all hosts, measured once more since some stood out."""
AGAIN_ALONE = f"{AGAIN} {ALONE}"
"""The arm of one that stood out, measured once more while the others rest."""
A_ROW_FOR_EACH = 1
"""The value of --multi with a row for each group that measures at the same time: each is a host."""


def cluster_plan(request: Request, cards: Cards, resources: Resources, mpi: Mpi) -> Plan:
    """A launch of all hosts together, and one of each. UserError: several placements, hosts with
    more ranks than others, or options that are for one host."""
    for name in request.suite_options:
        raise UserError(
            f"--{name}: on several hosts node measures ranks that work alone; name one host, or "
            f"take `mpigauge run NODE:Triad_tuned --{name} … --hosts …`"
        )
    seats = resources.one_placement(request, request.np or resources.room, MEASURES)
    names = (*MEMORY, *PEAKS, CLOCKS[-1], NOISE)
    unplaced = [PlanPart(_available(names, cards), 0, sizes=request.sizes or ARRAY)]
    if request.blas:
        unplaced.append(PlanPart(_available(PRODUCTS[:1], cards), 0, sizes=OF_RANK))
    seated = [_in_groups(resources.seated(part, seats)) for part in unplaced]
    every = with_blas(seated, request.libraries, cards)
    parts: list[PlanPart] = []
    for part in every:
        parts.append(part)
        for host in range(len(part.blocks)):
            parts.append(alone(part, host))
    plan = plan_of(request, tuple(parts), cards, resources, mpi)
    seconds = plan.seconds or len(every) * (SECONDS + SECONDS_OF_HOST * len(seated[0].blocks))
    return replace(plan, multi=A_ROW_FOR_EACH, seconds=seconds, launches=request.launches or 1)


def alone(together: PlanPart, host: int, arm: str = ALONE) -> PlanPart:
    """A part like `together` on one of its hosts."""
    block = together.blocks[host]
    return replace(together, world_ranks=block.ranks, blocks=(block,), arm=f"{arm}{block.host}")


def once_more(together: PlanPart, hosts: Sequence[int]) -> tuple[PlanPart, ...]:
    """Parts like `together` on all hosts at once, and on each of these while the others rest."""
    return (replace(together, arm=AGAIN), *(alone(together, i, AGAIN_ALONE) for i in hosts))


def _available(names: Sequence[str], cards: Cards) -> tuple[str, ...]:
    """The benchmarks of these names that kernels for this kind of processor have."""
    words = [f"{NODE_SUITE}:{name}" for name in names]
    return tuple(filter(cards.get, words))


def _in_groups(part: PlanPart) -> PlanPart:
    """Each host is one. UserError: some have more ranks than others."""
    ranks = {block.ranks for block in part.blocks}
    if part.in_turn:
        raise UserError("node fills a host with ranks before the next; --place does otherwise")
    if len(ranks) > 1:
        raise UserError(
            f"hosts get from {min(ranks)} to {max(ranks)} ranks, which cannot be compared; "
            f"--ppn {min(ranks)} gives each as many"
        )
    return replace(part, ranks=(ranks.pop(),))
