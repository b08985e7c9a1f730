# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge fabric`: all hosts at once and pair by pair, hot spots, victims."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.plan import Plan, PlanPart
from mpigauge.measuring.plan.resolve import plan_of
from mpigauge.model.errors import UserError
from mpigauge.model.units import byte_count
from mpigauge.result.fabric.fabric import FROM_ONE, GROUPS, HALVES, RANDOM, TO_ONE
from mpigauge.result.fabric.impact import AGGRESSORS, SUITE, VICTIMS
from mpigauge.result.fabric.matchings import ALONE, SHORT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.measuring.plan.request import Request
    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi

SECONDS = 60.0
USUAL_SIZE = (1 << 20,)
LEAST_BYTES = 1 << 10
LEAST_HOSTS = 2
LEAST_HOSTS_BESIDE = 4
"""Two victims and two aggressors."""
AGGRESSORS_OPTION, HALF = "aggressors", "50"
"""The share of the hosts that are aggressors, in percent."""
_SHARE_OF_PAIRS, _SHARE_OF_SPOTS, _SHARE_OF_VICTIMS = 3, 1, 6


def fabric_plan(
    request: Request,
    cards: Cards,
    resources: Resources,
    mpi: Mpi,
    *,
    groups: Sequence[int] = (),
) -> Plan:
    """A launch of pairs, one of hot spots, and one of victims. `groups`: the place of
    the group of each host, empty if none are known. UserError: there are too few hosts, or some
    have more ranks than others."""
    where = resources.one_placement(request, request.np or resources.room, "fabric has")
    whole = resources.seated(PlanPart((), 0), where)
    lanes = ranks_of_each(whole)
    hosts = len(whole.blocks)
    sizes = long_message(request)

    def part(names: Sequence[str], ranks: Sequence[int], share: int, **options: str) -> PlanPart:
        return replace(
            whole,
            benchmarks=tuple(f"{SUITE}:{name}" for name in names),
            ranks=tuple(ranks),
            sizes=sizes,
            suite_options={"host-ranks": str(lanes), **options},
            share=share,
        )

    order = {"host-order": ",".join(map(str, order_by_group(groups)))} if groups else {}
    every = (whole.world_ranks,)
    parts = [
        part(pairs_of(bool(groups)), every, _SHARE_OF_PAIRS, **order),
        part(
            (TO_ONE, FROM_ONE),
            [lanes * (others + 1) for others in growing(hosts - 1)],
            _SHARE_OF_SPOTS,
        ),
    ]
    if hosts >= LEAST_HOSTS_BESIDE:
        share = request.suite_options.get(AGGRESSORS_OPTION, HALF)
        parts.append(part(beside(), every, _SHARE_OF_VICTIMS, aggressors=share))
    request = replace(request, sizes=None)  # each part has its own
    plan = plan_of(request, tuple(parts), cards, resources, mpi)
    seconds, launches = plan.seconds or SECONDS, request.launches or 1
    return replace(plan, seconds=seconds, use_all=True, launches=launches)


def long_message(request: Request) -> tuple[int, ...]:
    """The size of long messages. UserError: there are several."""
    sizes = request.sizes or USUAL_SIZE
    if len(sizes) > 1 or sizes[0] < LEAST_BYTES:
        raise UserError(
            f"--sizes: fabric has one size of long messages, of {byte_count(LEAST_BYTES)} or more; "
            "short ones have 8 B"
        )
    return sizes


def check_hosts(hosts: Sequence[str]) -> None:
    """UserError: there is no network between so few."""
    if len(set(hosts)) < LEAST_HOSTS:
        named = f"only {hosts[0]} is named" if hosts else "none are named"
        raise UserError(
            f"fabric measures the network between hosts, and {named}; name two or more with "
            "--hosts or --hostfile"
        )


def ranks_of_each(part: PlanPart) -> int:
    """The number of ranks of each host. UserError: some have more than others."""
    ranks = {block.ranks for block in part.blocks}
    if part.in_turn:
        raise UserError("fabric fills a host with ranks before the next; --place does otherwise")
    if len(ranks) > 1:
        raise UserError(
            f"hosts get from {min(ranks)} to {max(ranks)} ranks, which cannot be compared; "
            f"--ppn {min(ranks)} gives each as many"
        )
    return ranks.pop()


def pairs_of(has_groups: bool) -> tuple[str, ...]:
    """The benchmarks of pairs of hosts: each way all at once and alone, and short messages."""
    ways = (RANDOM, HALVES, *([GROUPS] if has_groups else []))
    return (*(name for way in ways for name in (way, f"{way}{ALONE}")), SHORT)


def beside() -> tuple[str, ...]:
    """The victims alone and beside each kind of aggressors."""
    names: list[str] = []
    for victim in VICTIMS:
        names += [victim, *(f"{victim}_{aggressor}" for aggressor in AGGRESSORS)]
    return tuple(names)


def order_by_group(groups: Sequence[int]) -> tuple[int, ...]:
    """The places of hosts, group by group, so that halves are of whole groups where they can be."""
    return tuple(sorted(range(len(groups)), key=lambda place: groups[place]))


def growing(most: int) -> tuple[int, ...]:
    """1, 2, 4, … and all."""
    numbers, number = [], 1
    while number < most:
        numbers.append(number)
        number *= 2
    return (*numbers, most)
