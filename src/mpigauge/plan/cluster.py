# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge node` on several hosts: all of them at once, and one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.errors import UserError
from mpigauge.plan.node import ARRAY, CLOCKS, MEASURES, NOISE, PEAKS
from mpigauge.plan.plan import Part, Plan
from mpigauge.plan.resolve import plan_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi
    from mpigauge.plan.ground import Ground
    from mpigauge.plan.request import Request

SECONDS, SECONDS_OF_HOST = 30.0, 4.0
MEMORY = ("Triad_tuned", "Chase_huge")
ALONE = "host="
"""The arm of a host that is measured while the others rest."""
AGAIN = "again"
"""The arm of hosts that stood out, measured once more."""
A_ROW_FOR_EACH = 1
"""Of the groups that measure at the same time: each is a host."""


def cluster_plan(request: Request, cards: Cards, ground: Ground, mpi: Mpi) -> Plan:
    """A launch of all hosts together, and one of each. UserError: several placements, or hosts with
    more ranks than others."""
    where = ground.one_placement(request, request.np or ground.room, MEASURES)
    names = tuple(f"{NODE_SUITE}:{name}" for name in (*MEMORY, *PEAKS, CLOCKS[-1], NOISE))
    known = tuple(name for name in names if cards.get(name))
    together = ground.seated(Part(known, 0, sizes=request.sizes or ARRAY), where)
    ranks = _ranks_of_each(together)
    together = replace(together, ranks=(ranks,))
    parts = (together, *(alone(together, i) for i in range(len(together.blocks))))
    plan = plan_of(request, parts, cards, ground, mpi)
    seconds = plan.seconds or SECONDS + SECONDS_OF_HOST * len(together.blocks)
    return replace(plan, multi=A_ROW_FOR_EACH, seconds=seconds, launches=request.launches or 1)


def alone(together: Part, host: int) -> Part:
    """The same on one of its hosts."""
    block = together.blocks[host]
    return replace(together, world_ranks=block.ranks, blocks=(block,), arm=f"{ALONE}{block.host}")


def once_more(together: Part, hosts: Sequence[int]) -> Part:
    """The same on some of its hosts."""
    blocks = tuple(together.blocks[host] for host in hosts)
    return replace(
        together, world_ranks=sum(block.ranks for block in blocks), blocks=blocks, arm=AGAIN
    )


def _ranks_of_each(part: Part) -> int:
    ranks = {block.ranks for block in part.blocks}
    if part.in_turn:
        raise UserError("node fills a host with ranks before the next; --place does otherwise")
    if len(ranks) > 1:
        raise UserError(
            f"hosts get from {min(ranks)} to {max(ranks)} ranks, which cannot be compared; "
            f"--ppn {min(ranks)} gives each as many"
        )
    return ranks.pop()
