# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge map`: every two ranks, many pairs side by side, in one launch."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.plan import Plan, PlanPart
from mpigauge.measuring.plan.resolve import plan_of
from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.sizes import parse_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.measuring.plan.request import Request
    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi

SIZES = tuple(parse_sizes("8,1Mi"))
"""One for the latency, one for the bandwidth."""
FORMS = {
    "all": "every two ranks, as many pairs side by side as there can be",
    "each": "every two ranks, one pair at a time",
    "ring": "each rank with the next",
}


def map_plan(
    request: Request,
    cards: Cards,
    resources: Resources,
    mpi: Mpi,
    *,
    pairs: str,
    benchmark: str,
) -> Plan:
    """One launch, unless more are asked for. UserError: what cannot be measured in pairs."""
    check_pair(benchmark, cards, resources)
    where = resources.one_placement(request, request.np or max(resources.room, 2), "a map is of")
    units = {card.unit for card in cards.chosen([benchmark])}
    usual = SIZES[:1] if units == {"none"} else SIZES
    part = PlanPart(
        (benchmark,),
        where.ranks,
        sizes=request.sizes or usual,
        pairs=parse_pairs(pairs, where.ranks),
    )
    plan = plan_of(request, (resources.seated(part, where),), cards, resources, mpi)
    return replace(plan, launches=request.launches or 1)


def check_pair(benchmark: str, cards: Cards, resources: Resources) -> None:
    """UserError: it is unknown, no benchmark of two ranks, or one that hosts cannot have between
    them."""
    for card in cards.chosen([benchmark]):
        if card.suite == NODE_SUITE and len(resources.hosts) > 1:
            raise UserError(
                f"--benchmark: {card.word} needs memory that both ranks see, and there are "
                f"{len(resources.hosts)} hosts; name one of them"
            )
        if card.ranks != "pair":
            pairs = ", ".join(each.word for each in cards.benchmarks if each.ranks == "pair")
            raise UserError(
                f"--benchmark: a map is of benchmarks of two ranks, unlike {card.word}; "
                f"those are {pairs}"
            )


def parse_pairs(text: str, ranks: int) -> str:
    """A list of pairs as the kernels read it. UserError: it is not a list of pairs of so many
    ranks."""
    if ranks < 2:
        raise UserError(f"a pair needs 2 ranks, the job has {ranks}")
    word = text.strip().lower()
    if word in FORMS:
        return word
    rounds = []
    for part in word.replace(" ", "").split(";"):
        rounds.append([_pair(each, ranks) for each in part.split(",")])
    for pairs in rounds:
        _check_round(pairs)
    return one_after_the_other(rounds)


def _check_round(pairs: Sequence[tuple[int, int]]) -> None:
    """UserError: a rank is in two pairs that measure at the same time."""
    busy = Counter(rank for pair in pairs for rank in pair)
    for rank, times in busy.items():
        if times > 1:
            raise UserError(
                f"--pairs: rank {rank} is in two pairs that measure at the same time; put a ';' "
                "between them"
            )


def one_after_the_other(rounds: Iterable[Iterable[tuple[int, int]]]) -> str:
    """Rounds of pairs in the kernels' words: 0-1,2-3;0-2."""
    return ";".join(",".join(f"{a}-{b}" for a, b in pairs) for pairs in rounds)


def _pair(text: str, ranks: int) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)-(\d+)", text)
    if not match:
        hint = did_you_mean(text, FORMS) or f"; write {', '.join(FORMS)}, or pairs as 0-1,2-3;0-2"
        raise UserError(f"--pairs: '{text}' is not a pair of ranks{hint}")
    first, second = int(match[1]), int(match[2])
    if first == second:
        raise UserError(f"--pairs: '{text}' is a rank with itself")
    if max(first, second) >= ranks:
        raise UserError(
            f"--pairs: there is no rank {max(first, second)}, the job has ranks 0 to {ranks - 1}"
        )
    return first, second
