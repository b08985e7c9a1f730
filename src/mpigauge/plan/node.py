# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge node`: the machine itself, on one core, on some, and on all at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.sizes import parse_sizes
from mpigauge.plan.plan import Part, Plan
from mpigauge.plan.resolve import plan_of

if TYPE_CHECKING:
    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi
    from mpigauge.plan.ground import Ground
    from mpigauge.plan.request import Request

SECONDS = 60.0
SUITE = "NODE"
STREAMS = ("Read", "Write", "Copy", "Scale", "Add", "Triad", "Update", "Dot")
CURVES = ("Triad", "Chase", "Chase_huge")
PEAKS = ("Peak_scalar", "Peak_sse2", "Peak_avx2", "Peak_avx512", "Peak_neon")
CLOCKS = ("Clock_multiply", "Clock_xor")
LINES = ("Line", "Mailbox", "Payload")
MESSAGE = "PingPong"
ARRAY = tuple(parse_sizes("128Mi"))
"""Of each of three arrays, on each rank: more than the caches of most cores hold."""
SETS = tuple(parse_sizes("16Ki,64Ki,256Ki,1Mi,4Mi,16Mi,64Mi,256Mi"))
MESSAGES = tuple(parse_sizes("0,8"))


def node_plan(request: Request, cards: Cards, ground: Ground, mpi: Mpi) -> Plan:
    """One launch of each part, unless more are asked for. UserError: several placements."""
    wheres = ground.placements(request, request.np or max(ground.room, 1))
    if len(wheres) != 1:
        names = ", ".join(each.name for each in wheres)
        raise UserError(f"node measures one placement, not {len(wheres)} ({names}); name one")
    (where,) = wheres
    arrays = request.sizes or ARRAY
    seated = [ground.seated(part, where) for part in parts(where.ranks, arrays, cards)]
    plan = plan_of(request, tuple(seated), cards, ground, mpi)
    return replace(plan, seconds=plan.seconds or SECONDS, launches=request.launches or 1)


def parts(ranks: int, arrays: tuple[int, ...], cards: Cards) -> tuple[Part, ...]:
    """Memory on more and more ranks, the way from cache to memory, and what cores can do: each kind
    of processor has peaks of its own."""
    streams = [word for name in STREAMS for word in (name, f"{name}_tuned")]
    alone_and_all = tuple(dict.fromkeys((1, ranks)))
    peaks = [word for word in _words(PEAKS) if cards.get(word)]
    pairs = [*_words(LINES), MESSAGE] if ranks > 1 else []
    return (
        Part(_words((*streams, "Memcpy")), ranks, counts(ranks), arrays),
        Part(_words(CURVES), ranks, (1,), SETS),
        Part((*peaks, *_words(CLOCKS), *pairs), ranks, alone_and_all, MESSAGES),
    )


def counts(ranks: int) -> tuple[int, ...]:
    """1, 2, 4, … and all."""
    doubled = [1 << i for i in range(ranks.bit_length())]
    return tuple(dict.fromkeys([*(n for n in doubled if n < ranks), ranks]))


def _words(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{SUITE}:{name}" for name in names)
