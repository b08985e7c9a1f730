# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge quick`: the whole picture of a machine in about a minute."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.sizes import parse_sizes
from mpigauge.plan.plan import Part, Plan
from mpigauge.plan.resolve import pair_parts, plan_of

if TYPE_CHECKING:
    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.placement import Placement
    from mpigauge.model.topology import Topology
    from mpigauge.plan.ground import Ground
    from mpigauge.plan.request import Request

SECONDS = 60.0
PAIRS = ("PingPong", "PingPing", "Sendrecv", "Exchange")
BANDS = ("Uniband", "Biband")
PAIR_SIZES = tuple(parse_sizes("0,1..4Mi"))
# Each of these is one of PAIR_SIZES, so that all lines of the table have the same columns. Uniband
# has 256 messages under way: with more than 256 KiB each, a call takes too long for a quick look.
COARSE_SIZES = tuple(parse_sizes("0,8,64,512,4Ki,32Ki,256Ki"))


def quick(request: Request, cards: Cards, ground: Ground, mpi: Mpi) -> Plan:
    """Pairs on two cores or hosts, the default collectives on all."""
    if not ground.hosts:
        check_cores(request, ground.machine)
    plan = plan_of(request, parts(request, cards, ground), cards, ground, mpi)
    return replace(plan, seconds=plan.seconds or SECONDS)


def check_cores(request: Request, machine: Topology) -> None:
    """Before anything is built or installed for a machine that is too small."""
    if machine.cores < 2 and not request.oversubscribe:
        raise UserError(one_core(machine))


def parts(request: Request, cards: Cards, ground: Ground) -> tuple[Part, ...]:
    """Pairs and bands on each placement that was asked for; the collectives on all cores, or on
    those placements that have more than a pair. They share the job of the bands where both have two
    ranks."""
    pairs = [name for name in PAIRS if cards.get(name)]
    bands = [name for name in BANDS if cards.get(name)]
    others = [card.word for card in cards.default() if card.word not in (*PAIRS, *BANDS)]
    two = ground.placements(request, usual=2)
    for each in two:
        if each.ranks < 2:
            raise UserError(f"--place {each.name} seats one rank; pairs need at least 2")
    everything = max(ground.room, 2)
    if not request.place and everything == 2:
        return (
            _part(ground, two[0], 2, pairs, PAIR_SIZES),
            _part(ground, two[0], 2, [*bands, *others], COARSE_SIZES),
        )
    many = [each for each in ground.placements(request, usual=everything) if each.ranks > 2]
    many = many or list(ground.placements(replace(request, place=()), usual=everything))
    return (
        *pair_parts(ground, two, Part(tuple(pairs), 2, (2,), PAIR_SIZES)),
        *pair_parts(ground, two, Part(tuple(bands), 2, (2,), COARSE_SIZES)),
        *(_part(ground, each, each.ranks, others, COARSE_SIZES) for each in many),
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


def _part(
    ground: Ground, where: Placement, ranks: int, names: list[str], sizes: tuple[int, ...]
) -> Part:
    """Groups of so many ranks, in a job that has all seats."""
    part = Part(tuple(names), where.ranks, ranks=(ranks,), sizes=sizes)
    return ground.seated(part, where)
