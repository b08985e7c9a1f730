# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Threads that share the work of a rank: the cores that they need."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import as_list, parse_list
from mpigauge.model.errors import UserError
from mpigauge.model.names import ORDER
from mpigauge.model.units import many
from mpigauge.site.placement import HostResources

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.measuring.plan.plan import PlanPart
    from mpigauge.measuring.plan.request import Request
    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.cards import Card
    from mpigauge.model.hosts import HostRanks
    from mpigauge.model.topology import Topology

THREADS = "threads"


def are_requested(request: Request, chosen: Sequence[Card]) -> bool:
    """True if the user requested threads, and all of the benchmarks support them."""
    asked = THREADS in request.suite_options or ORDER in request.suite_options
    return asked and bool(chosen) and all(ORDER in card.options for card in chosen)


def with_cores(part: PlanPart, resources: Resources) -> PlanPart:
    """The part with the cores of each host distributed among its ranks."""
    blocks = (replace(b, bind=_shares(b, resources.topology(b))) for b in part.blocks)
    return replace(part, blocks=tuple(blocks))


def _shares(block: HostRanks, topology: Topology) -> tuple[str, ...]:
    cores = HostResources(block.host, topology).cores
    each = len(cores) // block.ranks
    if not each:
        return block.bind
    return tuple(
        as_list(frozenset(cores[i * each : (i + 1) * each]), "+") for i in range(block.ranks)
    )


def check(
    request: Request, chosen: Sequence[Card], parts: Sequence[PlanPart], resources: Resources
) -> None:
    """UserError: more threads than cores of a rank, or several numbers instead of one."""
    several = "," in request.suite_options.get(THREADS, "")
    together = []
    for card in chosen:
        if THREADS in card.options and ORDER not in card.options:
            together.append(card.name)
    if together and several:
        raise UserError(
            f"--threads: the threads of {', '.join(together)} talk to each other; write one number"
        )
    if any(ORDER in card.options for card in chosen):
        check_counts(request.suite_options.get(THREADS, "1"), parts, resources)


def check_counts(counts: str, parts: Sequence[PlanPart], resources: Resources) -> None:
    """UserError: more threads than cores of a rank."""
    most = max(map(int, counts.split(",")))
    for part in parts:
        for rank, cores in enumerate(_cores_of_ranks(part, resources)):
            if most > len(cores):
                raise UserError(
                    f"--threads {most}: {most} threads are more than the "
                    f"{many(len(cores), 'core')} that rank {rank} may use ({as_list(cores)}); "
                    "name fewer, fewer ranks (--np), or more cores (--bind 0-7)"
                )


def _cores_of_ranks(part: PlanPart, resources: Resources) -> Iterator[frozenset[int]]:
    for block in part.blocks:
        free = resources.topology(block).allowed
        for bound in block.bind or [""] * block.ranks:
            yield frozenset(parse_list(bound.replace("+", ","))) if bound else free
