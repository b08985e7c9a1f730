# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge quick`: the whole picture of a machine in less than a minute."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.plan import Plan, PlanPart
from mpigauge.measuring.plan.resolve import pair_parts, plan_of
from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.errors import UserError
from mpigauge.model.sizes import parse_sizes

if TYPE_CHECKING:
    from mpigauge.measuring.plan.request import Request
    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.placement import Placement
    from mpigauge.model.topology import Topology

SECONDS = 40.0
"""The time for all launches, so that `make run` has its numbers within 45 s; less if all is
precise."""
PAIRS = ("PingPong", "Sendrecv")
LIMITS = tuple(f"{NODE_SUITE}:{name}" for name in ("Line", "Mailbox", "Copy_once"))
"""The limits of two cores of one host, measured between the same two."""
BANDS = ("Uniband",)
COLLECTIVES = ("Allreduce", "Bcast", "Alltoall", "Barrier")
BENCHMARKS = (*PAIRS, *LIMITS, *BANDS, *COLLECTIVES)
"""All that is measured here; CMakeLists.txt has their files in its list `first`."""
PAIR_SIZES = tuple(parse_sizes("0,8,64,512,4Ki,32Ki,256Ki,1Mi,4Mi"))
# Each of these is one of PAIR_SIZES, so that all lines of the table have the same columns. None is
# 0: a collective that sends nothing says nothing. Uniband has 256 messages under way: with more
# than 256 KiB each, a call takes too long for a quick look.
COARSE_SIZES = tuple(parse_sizes("8,64,512,4Ki,32Ki,256Ki"))


def quick(request: Request, cards: Cards, resources: Resources, mpi: Mpi) -> Plan:
    """Pairs on two cores or hosts, a few collectives on all."""
    if not resources.hosts:
        check_cores(request, resources.machine)
    plan = plan_of(request, parts(request, cards, resources), cards, resources, mpi)
    return replace(plan, seconds=plan.seconds or SECONDS)


def check_cores(request: Request, machine: Topology) -> None:
    """Refuses a machine that is too small, before anything is built or installed for it."""
    if machine.cores < 2 and not request.oversubscribe:
        raise UserError(one_core(machine))


def parts(request: Request, cards: Cards, resources: Resources) -> tuple[PlanPart, ...]:
    """Pairs and bands on each placement that was asked for; the collectives on all cores, or on
    those placements that have more than a pair. They share the job of the bands where both have two
    ranks. What the machine can do at most is measured beside the pairs, where these are one pair of
    cores of one host."""
    two = resources.placements(request, usual=2)
    for each in two:
        if each.ranks < 2:
            raise UserError(f"--place {each.name} seats one rank; pairs need at least 2")
    pairs = _available(PAIRS, cards)
    if len(two) == 1 and len(two[0].by_host) == 1:
        pairs += _available(LIMITS, cards)
    bands, others = _available(BANDS, cards), _available(COLLECTIVES, cards)
    everything = max(resources.room, 2)
    if not request.place and everything == 2:
        return (
            _part(resources, two[0], 2, pairs, PAIR_SIZES),
            _part(resources, two[0], 2, (*bands, *others), COARSE_SIZES),
        )
    many = [each for each in resources.placements(request, usual=everything) if each.ranks > 2]
    many = many or list(resources.placements(replace(request, place=()), usual=everything))
    return (
        *pair_parts(resources, two, PlanPart(pairs, 2, (2,), PAIR_SIZES)),
        *pair_parts(resources, two, PlanPart(bands, 2, (2,), COARSE_SIZES)),
        *(_part(resources, each, each.ranks, others, COARSE_SIZES) for each in many),
    )


def one_core(machine: Topology) -> str:
    reason = (
        "this machine has one core"
        if len({pu.core for pu in machine.pus}) == 1
        else f"only one of its {len({pu.core for pu in machine.pus})} cores may be used here"
    )
    return (
        f"{reason}: between two ranks on one core the scheduler would be measured, not MPI; "
        "take a machine or an allocation with two cores or more, or force it with --oversubscribe"
    )


def _available(names: tuple[str, ...], cards: Cards) -> tuple[str, ...]:
    """The benchmarks that these kernels have."""
    return tuple(name for name in names if cards.get(name))


def _part(
    resources: Resources,
    where: Placement,
    ranks: int,
    names: tuple[str, ...],
    sizes: tuple[int, ...],
) -> PlanPart:
    """Groups of so many ranks, in a job that has all seats."""
    part = PlanPart(names, where.ranks, ranks=(ranks,), sizes=sizes)
    return resources.seated(part, where)
