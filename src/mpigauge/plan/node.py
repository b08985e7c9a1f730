# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge node`: the machine itself, on one core, on some, and on all at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.errors import UserError
from mpigauge.model.placement import Placement
from mpigauge.model.sizes import parse_sizes
from mpigauge.plan import threads, where
from mpigauge.plan.blas import with_blas
from mpigauge.plan.plan import Part, Plan
from mpigauge.plan.resolve import plan_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi
    from mpigauge.plan.ground import Ground
    from mpigauge.plan.request import Request

SECONDS = 60.0
STREAMS = ("Read", "Write", "Copy", "Scale", "Add", "Triad", "Update", "Dot")
CURVES = ("Triad", "Chase", "Chase_huge")
PEAKS = ("Peak_scalar", "Peak_sse2", "Peak_avx2", "Peak_avx512", "Peak_neon")
SINGLE = tuple(f"{name}_single" for name in PEAKS)
PRODUCTS = ("DGEMM", "SGEMM")
UPDATES = ("DGEMM_update",)
CLOCKS = ("Clock_multiply", "Clock_xor")
LINES = ("Line", "Mailbox", "Payload")
PLACED = ("Triad", "Triad_tuned")
"""What is measured on threads and on NUMA nodes..."""
CHASED = "Chase_huge"
"""...and on these the latency of, too."""
MOST_COUNTS = 16
LOADED = ("Chase_loaded", "Read_loaded")
SHARES = ("_half", "_quarter", "_eighth")
"""Of the time, in which the others read..."""
LEAST_LOADS = 3
"""...where there are too few numbers of others for a curve."""
COPIES = ("Copy_once", "Copy_twice", "Copy_once_fresh", "Copy_twice_fresh")
NOISE = "Noise"
MESSAGE = "PingPong"
ARRAY = tuple(parse_sizes("128Mi"))
"""Of each of three arrays, on each rank: more than the caches of most cores hold."""
SETS = tuple(parse_sizes("8Ki..256Mi"))
MESSAGES = tuple(parse_sizes("0,8"))
DATA = "both"
"""Of PingPong, as copies have both; what else there is has no data that are sent."""
COPIED = tuple(parse_sizes("4Ki,16Ki,64Ki,256Ki,1Mi,4Mi"))
OF_RANK = (8 * 2000**2,)
"""Bytes of a product on one core: it takes a fifth of a second of a core of today."""
OF_UPDATE = (8 * 15000**2,)
"""Of one on all cores of a host in the shape that nodeperf has."""
MEASURES = "node measures"
SHARE = 12
"""Of the time for a part with products, which take long: as much as others with so many cells."""


def node_plan(request: Request, cards: Cards, ground: Ground, mpi: Mpi) -> Plan:
    """One launch of each part, unless more are asked for. UserError: several placements."""
    seats = ground.one_placement(request, request.np or max(ground.room, 1), MEASURES)
    arrays = request.sizes or ARRAY
    seated = [ground.seated(part, seats) for part in parts(seats.ranks, arrays, cards)]
    seated += [on_all_cores(part, seated[0]) for part in parts_of_hosts(seats.ranks, cards)]
    seated += [*thread_parts(request, ground, arrays), *memory_parts(request, ground, arrays)]
    seated = list(with_blas(seated, request.blas, cards))
    plan = plan_of(replace(request, heeded={}), tuple(seated), cards, ground, mpi)
    seconds, launches = plan.seconds or SECONDS, request.launches or 1
    return replace(plan, seconds=seconds, launches=launches, data=DATA)


def parts(ranks: int, arrays: tuple[int, ...], cards: Cards) -> tuple[Part, ...]:
    """What cores can do (each kind of processor has peaks of its own) and what others take of them,
    messages by copies, loads under load, memory on more and more ranks, the way from cache to
    memory, and products. What knows enough early comes first and leaves its time to the others;
    products come last, since one of them takes as long as it takes."""
    streams = [word for name in STREAMS for word in (name, f"{name}_tuned")]
    alone_and_all = tuple(dict.fromkeys((1, ranks)))
    peaks = _known((*PEAKS, *SINGLE), cards)
    products = _known(PRODUCTS, cards)
    pairs = [*_words(LINES), MESSAGE] if ranks > 1 else []
    own = (*peaks, *_words(CLOCKS), *pairs, *_words((NOISE,)))
    parts = [Part(own, ranks, alone_and_all, MESSAGES)]
    if ranks > 1:
        parts += [
            Part((*_words(COPIES), MESSAGE), ranks, (2,), COPIED),
            Part(_words(_loads(ranks)), ranks, counts(ranks)[1:], arrays),
        ]
    parts += [
        Part(_words((*streams, "Memcpy")), ranks, counts(ranks), arrays),
        Part(_words(CURVES), ranks, (1,), SETS),
    ]
    if products:
        parts.append(Part((*products, *peaks), ranks, alone_and_all, OF_RANK))
    return tuple(parts)


def _loads(ranks: int) -> tuple[str, ...]:
    """Those of others who always read, and on few cores of others who rest in between."""
    if len(counts(ranks)[1:]) >= LEAST_LOADS:
        return LOADED
    return tuple(name + end for end in ("", *SHARES) for name in LOADED)


def thread_parts(request: Request, ground: Ground, arrays: tuple[int, ...]) -> Iterator[Part]:
    """One rank with more and more threads. UserError: more than it has cores."""
    if not {threads.THREADS, threads.ORDER} & set(request.heeded):
        return
    usual = {threads.THREADS: _up_to(ground.machine.cores), threads.ORDER: "compact"}
    wanted = {name: request.heeded.get(name, usual[name]) for name in usual}
    (one,) = ground.placements(replace(request, np=1, place=(), ppn=None), 1)
    part = Part(_words(PLACED), 1, (1,), arrays, heeded=wanted)
    part = threads.with_cores(ground.seated(part, one), ground)
    threads.check_counts(wanted[threads.THREADS], [part], ground)
    yield part


def memory_parts(request: Request, ground: Ground, arrays: tuple[int, ...]) -> Iterator[Part]:
    """All cores of each NUMA node in turn, each with its memory here and there."""
    if where.MEMORY_ON not in request.heeded:
        return
    if len(ground.sites) > 1:
        raise UserError("--memory-on: node looks at the memory of one host; name one with --hosts")
    (site,) = ground.sites
    where.check(request.heeded[where.MEMORY_ON], site.topology)
    free = site.topology.allowed
    for node in site.topology.numa:
        cores = [pu for pu in site.cores if pu in node.pus & free]
        nodes = where.seen_from(node.number, request.heeded[where.MEMORY_ON], site.topology)
        if not cores or not nodes:
            continue
        on_node = Placement(f"{where.COMPUTE_ON}{node.number}", (site.seat(*cores),))
        wanted = {
            threads.THREADS: str(len(cores)),
            threads.ORDER: "compact",
            where.MEMORY_ON: ",".join(nodes),
        }
        yield ground.seated(
            Part(_words((*PLACED, CHASED)), 1, (1,), arrays, heeded=wanted), on_node
        )


def _up_to(cores: int) -> str:
    """1 to all where they are few, else 1, 2, 4, … and all."""
    many = range(1, cores + 1) if cores <= MOST_COUNTS else counts(cores)
    return ",".join(map(str, many))


def parts_of_hosts(cores: int, cards: Cards) -> tuple[Part, ...]:
    """Products by all cores of a host: one rank has them all, and its library a thread for each.
    A square one takes about as long as that on one core."""
    square = round(2000 * cores ** (1 / 3), -2)
    wanted = ((PRODUCTS, (int(8 * square**2),)), (UPDATES, OF_UPDATE))
    return tuple(
        Part(names, 1, (1,), sizes, share=SHARE)
        for each, sizes in wanted
        if (names := _known(each, cards))
    )


def on_all_cores(part: Part, like: Part) -> Part:
    """The part on the hosts of another, a rank on each with the cores that its ranks had there."""
    blocks = tuple(
        replace(block, ranks=1, bind=("+".join(block.bind),) if block.bind else ())
        for block in like.blocks
    )
    ranks = tuple(dict.fromkeys((1, len(blocks))))
    return replace(part, world_ranks=len(blocks), ranks=ranks, blocks=blocks)


def counts(ranks: int) -> tuple[int, ...]:
    """1, 2, 4, … and all."""
    doubled = [1 << i for i in range(ranks.bit_length())]
    return tuple(dict.fromkeys([*(n for n in doubled if n < ranks), ranks]))


def _known(names: tuple[str, ...], cards: Cards) -> tuple[str, ...]:
    """Those that kernels for this kind of processor have."""
    return tuple(word for word in _words(names) if cards.get(word))


def _words(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{NODE_SUITE}:{name}" for name in names)
