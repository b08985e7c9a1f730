# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge node --compiler`: the simple loops, on one core and on all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.compute.compilers import with_compilers
from mpigauge.measuring.plan.plan import LEAST_LAUNCHES, Plan, PlanPart
from mpigauge.measuring.plan.resolve import plan_of
from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.errors import UserError, no_such
from mpigauge.model.names import COMPILER
from mpigauge.model.sizes import parse_sizes
from mpigauge.products.node.node_suite import MEASURES, SECONDS

if TYPE_CHECKING:
    from mpigauge.measuring.plan.request import Request
    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.cards import Card, Cards
    from mpigauge.model.mpi import Mpi

SIZES = tuple(parse_sizes("8Ki,128Mi"))
"""Three arrays in the first cache, where compilers differ most, and in memory."""


def loops_plan(request: Request, cards: Cards, resources: Resources, mpi: Mpi) -> Plan:
    """A plan of loops with as many launches as a verdict needs. UserError: what was asked for has
    no place there."""
    _check(request, resources)
    names = loops_of(request.benchmarks, cards)
    seats = resources.one_placement(request, request.np or max(resources.room, 1), MEASURES)
    part = PlanPart(names, 0, tuple(dict.fromkeys((1, seats.ranks))), request.sizes or SIZES)
    parts = with_compilers([resources.seated(part, seats)], request.compilers, cards)
    plan = plan_of(request, parts, cards, resources, mpi)
    launches = request.launches or LEAST_LAUNCHES
    return replace(plan, seconds=plan.seconds or SECONDS, launches=launches)


def loops_of(names: Sequence[str], cards: Cards) -> tuple[str, ...]:
    """The words of those that are named, or of all. UserError: there is no such loop."""
    loops = {card.name: card.word for card in cards if _is_loop(card)}
    chosen = [name.removeprefix(f"{NODE_SUITE}:") for name in names] or list(loops)
    for name in chosen:
        if name not in loops:
            raise no_such("simple loop", name, loops, "--compiler")
    return tuple(loops[name] for name in dict.fromkeys(chosen))


def _is_loop(card: Card) -> bool:
    return card.suite == NODE_SUITE and COMPILER in card.options


def _check(request: Request, resources: Resources) -> None:
    given = [
        *(f"--{name}" for name in request.suite_options),
        *(["--blas"] if request.blas else []),
    ]
    if given:
        raise UserError(
            f"{given[0]}: with --compiler, node measures the simple loops of ranks alone; "
            "`mpigauge run NODE:Triad --compiler …` takes other options, too"
        )
    if len(resources.all_hosts) > 1:
        raise UserError(
            "--compiler: node compares compilers on one host; name one, or take "
            "`mpigauge run NODE:Triad --compiler … --hosts …`"
        )
