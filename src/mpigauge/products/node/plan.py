# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge node`: the machine itself, on one core, on some, and on all at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan import where
from mpigauge.measuring.plan.compute import threads
from mpigauge.measuring.plan.compute.blas import with_blas
from mpigauge.measuring.plan.plan import Plan, PlanPart
from mpigauge.measuring.plan.resolve import plan_of
from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.errors import UserError
from mpigauge.model.machine import Machine
from mpigauge.model.names import CHASED, COMPUTE_ON, COPIES, MEMORY_ON, MESSAGE, ORDER
from mpigauge.model.placement import Placement
from mpigauge.model.sizes import parse_sizes
from mpigauge.products.node.node_suite import (
    ARRAY,
    CLOCKS,
    MEASURES,
    NOISE,
    OF_RANK,
    PEAKS,
    PRODUCTS,
    SECONDS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.measuring.plan.request import Request
    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.topology import Topology

STREAM = ("Copy", "Scale", "Add", "Triad")
"""The four that everybody knows, which come first."""
STREAMS = (*STREAM, "Read", "Write", "Update", "Dot")
CURVES = ("Triad", "Chase", "Chase_huge")
SINGLE = tuple(f"{name}_single" for name in PEAKS)
UPDATES = ("DGEMM_update",)
LINES = ("Line", "Mailbox", "Payload")
PLACED = ("Triad", "Triad_tuned")
"""The benchmarks on threads and on NUMA nodes, next to the latency."""
MOST_COUNTS = 16
LOADED = ("Chase_loaded", "Read_loaded")
SHARES = ("_half", "_quarter", "_eighth")
"""The shares of the time in which others read, where too few numbers of them make no curve."""
LEAST_LOADS = 3
"""The fewest numbers of other ranks that make a curve."""
FIRST = ("Copy", "DGEMM")
"""The benchmarks with which the first parts begin, before the others."""
FIRST_SHARE = 0.4
"""The share of the time that these parts get."""
EACH_S = 20.0
"""The seconds that each of their launches needs."""
MOST_TIMES = 6
"""The most launches of these parts, which give an interval."""
TIMES_A_CACHE = 4
"""The size of each array in units of the caches that could hold it, as STREAM requires."""
OF_MEMORY = 0.5
"""The most of a machine's memory that all arrays take."""
ARRAYS = 3
ARRAY_STEP = 1 << 20
SETS = tuple(parse_sizes("8Ki..256Mi"))
MESSAGES = tuple(parse_sizes("0,8"))
DATA = "both"
"""The data of PingPong, both fresh and static, as copies have; other benchmarks send no data."""
COPIED = tuple(parse_sizes("4Ki,16Ki,64Ki,256Ki,1Mi,4Mi"))
OF_UPDATE = (8 * 15000**2,)
"""The size of a matrix product on all cores of a host, in the shape that nodeperf uses."""
SHARE = 12
"""The share of time for a part with products, which take long: as much as others with so many
cells."""


def node_plan(request: Request, cards: Cards, resources: Resources, mpi: Mpi) -> Plan:
    """One launch of each part, and of STREAM and DGEMM as many as the time has room for, unless a
    number is asked for. UserError: several placements."""
    seats = resources.one_placement(request, request.np or max(resources.room, 1), MEASURES)
    arrays = request.sizes or array_beyond_caches(resources.machine, seats.ranks)
    seated = [resources.seated(part, seats) for part in parts(seats.ranks, arrays, cards)]
    seated += [on_all_cores(part, seated[0]) for part in parts_of_hosts(seats.ranks, cards)]
    seated += [*thread_parts(request, resources, arrays), *memory_parts(request, resources, arrays)]
    seconds = request.seconds or SECONDS
    if request.launches is None:
        seated = by_worth(seated, seconds)
    seated = list(with_blas(seated, request.libraries, cards))
    plan = plan_of(replace(request, suite_options={}), tuple(seated), cards, resources, mpi)
    launches, strict = request.launches or 1, request.launches is None
    return replace(plan, seconds=seconds, launches=launches, data=DATA, strict=strict)


def by_worth(parts: Sequence[PlanPart], seconds: float) -> list[PlanPart]:
    """Triad first, which is quoted of a machine, then STREAM's loops and DGEMM, with FIRST_SHARE of
    the time; where there is enough of it they have several launches, with others in between, so
    that their numbers have errors."""
    triad, *parts = parts
    first = [part for part in parts if part.benchmarks[0] in _words(FIRST)]
    others = [part for part in parts if part not in first]
    times = max(1, min(MOST_TIMES, int(seconds / EACH_S)))
    rest = sum(part.weight for part in others)
    units = times * sum(map(_units, first))
    unit = rest * FIRST_SHARE / (1 - FIRST_SHARE) / max(1, units)
    shared = [_with_share(part, unit * _units(part)) for part in first]
    ordered = [_with_share(triad, unit * _units(first[0])), *shared]
    for done, part in enumerate(others, 1):
        ordered.append(part)
        due = done * (times - 1) // len(others)
        made = (done - 1) * (times - 1) // len(others)
        ordered += shared * (due - made)
    return ordered


def _with_share(part: PlanPart, share: float) -> PlanPart:
    return replace(part, share=max(1, round(share)))


def _units(part: PlanPart) -> int:
    """STREAM's loops go over arrays that have to be made first, so they need twice the time."""
    if part.benchmarks[0] in _words(FIRST[:1]):
        return 2
    return 1


def array_beyond_caches(machine: Topology, ranks: int) -> tuple[int, ...]:
    """Bytes of an array of each rank: four times the largest cache of a core, where the memory has
    room for all of them; the page says of what fits into a cache all the same."""
    largest = max((cache.bytes for cache in machine.caches), default=0)
    bytes_ = max(ARRAY[0], TIMES_A_CACHE * largest)
    memory = _memory_of(machine)
    if memory:
        room = int(OF_MEMORY * memory) // (ARRAYS * ranks)
        bytes_ = max(ARRAY[0], min(bytes_, room))
    return (bytes_ // ARRAY_STEP * ARRAY_STEP,)


def _memory_of(machine: Topology) -> int:
    """Bytes of it that may be had: all, or less where others have some or a container has a limit.
    0: that is not known."""
    sizes = [sum(node.bytes or 0 for node in machine.numa)]
    if isinstance(machine, Machine):
        sizes.append(machine.memory_bytes)
    return min(filter(None, sizes), default=0)


def parts(ranks: int, arrays: tuple[int, ...], cards: Cards) -> tuple[PlanPart, ...]:
    """The parts on one host: peaks of its cores and noise, messages by copies, loads under load,
    memory on more and more ranks, the way from cache to memory, and products. What most people ask
    for comes first, Triad by itself, STREAM's four loops and DGEMM: if time is short, the last
    parts are left out, and the last benchmarks of a part."""
    streams: list[str] = []
    for name in sorted(STREAMS, key=lambda name: name in STREAM):  # the others first
        streams += (name, f"{name}_tuned")
    alone_and_all = tuple(dict.fromkeys((1, ranks)))
    peaks = _available((*PEAKS, *SINGLE), cards)
    products = _available(PRODUCTS, cards)
    pairs = [*_words(LINES), MESSAGE] if ranks > 1 else []
    own = (*peaks, *_words(CLOCKS), *pairs, *_words((NOISE,)))
    parts = [
        PlanPart(_words(STREAM[-1:]), ranks, alone_and_all, arrays),
        PlanPart(_words(STREAM), ranks, alone_and_all, arrays),
    ]
    if products:
        parts.append(PlanPart((*products, *peaks), ranks, alone_and_all, OF_RANK))
    parts.append(PlanPart(own, ranks, alone_and_all, MESSAGES))
    if ranks > 1:
        parts += [
            PlanPart((*_words(COPIES), MESSAGE), ranks, (2,), COPIED),
            PlanPart(_words(_loads(ranks)), ranks, counts(ranks)[1:], arrays),
        ]
    parts += [
        PlanPart(_words((*streams, "Memcpy")), ranks, counts(ranks), arrays),
        PlanPart(_words(CURVES), ranks, (1,), SETS),
    ]
    return tuple(parts)


def _loads(ranks: int) -> tuple[str, ...]:
    """The benchmarks in which others always read, and on few cores also those in which others rest
    in between."""
    if len(counts(ranks)[1:]) >= LEAST_LOADS:
        return LOADED
    return tuple(name + end for end in ("", *SHARES) for name in LOADED)


def thread_parts(
    request: Request, resources: Resources, arrays: tuple[int, ...]
) -> Iterator[PlanPart]:
    """One rank with more and more threads. UserError: more than it has cores."""
    if not {threads.THREADS, ORDER} & set(request.suite_options):
        return
    usual = {threads.THREADS: _up_to(resources.machine.cores), ORDER: "compact"}
    chosen = {name: request.suite_options.get(name, usual[name]) for name in usual}
    (one,) = resources.placements(replace(request, np=1, place=(), ppn=None), 1)
    part = PlanPart(_words(PLACED), 1, (1,), arrays, suite_options=chosen)
    part = threads.with_cores(resources.seated(part, one), resources)
    threads.check_counts(chosen[threads.THREADS], [part], resources)
    yield part


def memory_parts(
    request: Request, resources: Resources, arrays: tuple[int, ...]
) -> Iterator[PlanPart]:
    """All cores of each NUMA node in turn, each with its memory here and there."""
    if MEMORY_ON not in request.suite_options:
        return
    if len(resources.all_hosts) > 1:
        raise UserError("--memory-on: node measures the memory of one host; name one with --hosts")
    (host,) = resources.all_hosts
    where.check(request.suite_options[MEMORY_ON], host.topology)
    free = host.topology.allowed
    for node in host.topology.numa:
        cores = [pu for pu in host.cores if pu in node.pus & free]
        nodes = where.seen_from(node.number, request.suite_options[MEMORY_ON], host.topology)
        if not cores or not nodes:
            continue
        on_node = Placement(f"{COMPUTE_ON}{node.number}", (host.seat(*cores),))
        options = {
            threads.THREADS: str(len(cores)),
            ORDER: "compact",
            MEMORY_ON: ",".join(nodes),
        }
        yield resources.seated(
            PlanPart(_words((*PLACED, CHASED)), 1, (1,), arrays, suite_options=options), on_node
        )


def _up_to(cores: int) -> str:
    """1 to all where they are few, else 1, 2, 4, … and all."""
    many = range(1, cores + 1) if cores <= MOST_COUNTS else counts(cores)
    return ",".join(map(str, many))


def parts_of_hosts(cores: int, cards: Cards) -> tuple[PlanPart, ...]:
    """Products by all cores of a host: one rank has them all, and its library a thread for each.
    A square one takes about as long as that on one core."""
    square = round(2000 * cores ** (1 / 3), -2)
    parts = []
    for kernels, sizes in ((PRODUCTS, (int(8 * square**2),)), (UPDATES, OF_UPDATE)):
        names = _available(kernels, cards)
        if names:
            parts.append(PlanPart(names, 1, (1,), sizes, share=SHARE))
    return tuple(parts)


def on_all_cores(part: PlanPart, like: PlanPart) -> PlanPart:
    """The part on the hosts of another, a rank on each with the cores that its ranks had there."""
    blocks = []
    for block in like.blocks:
        together = ("+".join(block.bind),) if block.bind else ()
        blocks.append(replace(block, ranks=1, bind=together))
    ranks = tuple(dict.fromkeys((1, len(blocks))))
    return replace(part, world_ranks=len(blocks), ranks=ranks, blocks=tuple(blocks))


def counts(ranks: int) -> tuple[int, ...]:
    """1, 2, 4, … and all."""
    powers, count = [], 1
    while count < ranks:
        powers.append(count)
        count *= 2
    return (*powers, ranks)


def _available(names: tuple[str, ...], cards: Cards) -> tuple[str, ...]:
    """The benchmarks that the kernels for this kind of processor have."""
    return tuple(filter(cards.get, _words(names)))


def _words(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{NODE_SUITE}:{name}" for name in names)
