# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge quick`: the whole picture of a machine in about a minute."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.sizes import parse_sizes
from mpigauge.plan.plan import Part, Plan
from mpigauge.plan.resolve import plan_of

if TYPE_CHECKING:
    from mpigauge.model.cards import Cards
    from mpigauge.model.machine import Machine
    from mpigauge.model.mpi import Mpi
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
    check_cores(request, ground.machine)
    plan = plan_of(request, parts(cards, ground.room), cards, ground, mpi)
    return replace(plan, seconds=plan.seconds or SECONDS)


def check_cores(request: Request, machine: Machine) -> None:
    """Before anything is built or installed for a machine that is too small."""
    if machine.cores < 2 and not request.oversubscribe and not request.hosts:
        raise UserError(one_core(machine))


def parts(cards: Cards, room: int) -> tuple[Part, ...]:
    """The collectives share the job of the bands where both have two ranks."""
    everything = max(room, 2)
    pairs = _part(2, [name for name in PAIRS if cards.get(name)], PAIR_SIZES)
    bands = [name for name in BANDS if cards.get(name)]
    others = [card.word for card in cards.default() if card.word not in (*PAIRS, *BANDS)]
    if everything == 2:
        return pairs, _part(2, [*bands, *others], COARSE_SIZES)
    return (
        pairs,
        _part(2, bands, COARSE_SIZES),
        _part(everything, others, COARSE_SIZES),
    )


def one_core(machine: Machine) -> str:
    reason = (
        "this machine has one core"
        if len({pu.core for pu in machine.pus}) == 1
        else f"only one of its {len({pu.core for pu in machine.pus})} cores may be used here"
    )
    return (
        f"{reason}: between two ranks on one core the scheduler would be measured, not MPI; "
        "take a machine or an allocation with two cores or more, or force it with --oversubscribe"
    )


def _part(ranks: int, names: list[str], sizes: tuple[int, ...]) -> Part:
    return Part(
        benchmarks=tuple(names),
        world_ranks=ranks,
        ranks=(ranks,),
        sizes=sizes,
    )
