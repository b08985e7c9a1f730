# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Checks a request against benchmarks, machine and MPI, and makes a plan of it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from mpigauge.measuring.plan import arrivals, replays, where
from mpigauge.measuring.plan.compute import thread_levels, threads
from mpigauge.measuring.plan.compute.blas import BLAS, with_blas
from mpigauge.measuring.plan.general import PlanFields
from mpigauge.measuring.plan.memory.gpus import check_gpus, uses_gpus, with_gpus
from mpigauge.measuring.plan.plan import Plan, PlanPart
from mpigauge.measuring.plan.request import Request
from mpigauge.model.errors import UserError
from mpigauge.model.grouping import grouped
from mpigauge.model.names import COMPILER
from mpigauge.model.placement_words import of_policy
from mpigauge.model.suite_options import ROOT, flag_of
from mpigauge.model.units import first_few, many
from mpigauge.site.placement import in_one_job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.cards import Card, Cards
    from mpigauge.model.mpi import Mpi
    from mpigauge.model.placement import Placement

MPI_PREFIX = "MPI_"
_NEEDS = {
    "pair": "needs at least 2 ranks",
    "pairs": "needs at least 2 ranks",
    "several": "needs at least 2 ranks",
    "plane": "needs a × b ranks with both at least 2",
    "volume": "needs a × b × c ranks with all at least 2",
}
_FIXED = ("one", "pair")
"""Kinds of benchmarks whose groups have one size."""
CLASSIC_LAUNCHES = 1


def resolve(request: Request, cards: Cards, resources: Resources, mpi: Mpi) -> Plan:
    """The plan of `mpigauge run`."""
    request = arrivals.with_groups(request, cards.chosen(request.benchmarks))
    request = replays.with_ranks(request, cards.chosen(request.benchmarks))
    return plan_of(request, parts_of(request, cards, resources), cards, resources, mpi)


def parts_of(request: Request, cards: Cards, resources: Resources) -> tuple[PlanPart, ...]:
    """A job for each placement of the benchmarks, or one that several placements share."""
    chosen = cards.chosen(request.benchmarks)
    if not chosen:
        raise UserError("no benchmark is named; `mpigauge benchmarks` shows which there are")
    parts = _seated_parts(request, chosen, resources)
    for part in parts:
        check_ranks(request, chosen, part.world_ranks)
    parts = with_blas(parts, request.libraries, cards)
    if not request.compilers:
        return parts
    from mpigauge.measuring.plan.compute.compilers import with_compilers

    return with_compilers(parts, request.compilers, cards)


def _seated_parts(
    request: Request, chosen: Sequence[Card], resources: Resources
) -> tuple[PlanPart, ...]:
    benchmarks = tuple(card.word for card in chosen)
    wheres = resources.placements(request, world_ranks(request, chosen, resources))
    if all(card.ranks == "pair" for card in chosen) and not says_groups(request):
        return pair_parts(resources, wheres, PlanPart(benchmarks, 2, sizes=request.sizes))
    template = PlanPart(benchmarks, 0, request.ranks, request.sizes)
    parts = tuple(resources.seated(template, each) for each in wheres)
    if threads.are_requested(request, chosen) and not (request.place or request.unbound):
        return tuple(threads.with_cores(part, resources) for part in parts)
    return parts


def pair_parts(
    resources: Resources, wheres: Sequence[Placement], part: PlanPart
) -> tuple[PlanPart, ...]:
    """One job for all placements of two ranks, if they can share it; else a job for each."""
    shared = in_one_job(wheres)
    if shared is None:
        return tuple(resources.seated(part, where) for where in wheres)
    pairs = ";".join(members.replace(",", "-") for members in shared.places)
    one = replace(part, ranks=(), pairs=pairs, places=shared.places)
    return (resources.seated(one, shared.where),)


def says_groups(request: Request) -> bool:
    """True if the user gave the number of ranks that measure together, or their order."""
    return bool(request.ranks) or request.multi is not None or request.map is not None


def plan_of(
    request: Request, parts: tuple[PlanPart, ...], cards: Cards, resources: Resources, mpi: Mpi
) -> Plan:
    """The plan for these parts. UserError: the request contradicts them."""
    ours = [part for part in parts if not part.foreign]
    chosen = cards.chosen(name for part in ours for name in part.benchmarks)
    check_options(request, chosen, cards)
    check_gpus(request, chosen)
    if uses_gpus(request, chosen):
        parts = with_gpus(parts, request, resources)
    check_root(request.suite_options, ours)
    threads.check(request, chosen, ours, resources)
    datatype, op = data_and_op(request, chosen, cards)
    check_settings(request, mpi)
    values = given_options(request) | {
        "parts": thread_levels.with_levels(parts, request.suite_options),
        "mpi": mpi.spec,
        "seed": request.seed,
        "mode": "classic" if request.classic else "adaptive",
        "seconds": request.seconds,
        "use_all": request.seconds is not None and request.precision is None,
        "launches": request.launches or (CLASSIC_LAUNCHES if request.classic else None),
        "datatype": datatype,
        "op": op,
        "cache_bytes": max(map(resources.cold_bytes, parts)),
        "insist": insisted(request, cards),
        "oversubscribe": any(map(resources.crowded, parts)),
        "suite_options": _suite_options(request, chosen, ours, resources),
        "replay": replays.replayed_by(request.replay),
    }
    return Plan(**values)


def given_options(request: Request) -> dict[str, Any]:
    """The options that the user gave and a plan keeps as they are. It has defaults for others."""
    options = {each.name: getattr(request, each.name) for each in fields(PlanFields)}
    return {name: value for name, value in options.items() if value not in (None, "")}


def _suite_options(
    request: Request, chosen: Sequence[Card], ours: Sequence[PlanPart], resources: Resources
) -> dict[str, str]:
    """The suite options in the kernels' words, with looked-up values instead of names."""
    options = thread_levels.without_levels(where.with_nodes(request.suite_options, resources))
    options = arrivals.with_arrivals(options, request.arrivals, chosen, ours)
    return replays.with_mix(options, request.replay, chosen, ours)


def insisted(request: Request, cards: Cards) -> tuple[str, ...]:
    """Benchmarks that the user named, not only their suite, and that lack the requested fresh
    data."""
    if request.data == "static":
        return ()
    words = []
    for card in cards.named(request.benchmarks):
        if card.why_static:
            words.append(card.word)
    return tuple(words)


def world_ranks(request: Request, chosen: Sequence[Card], resources: Resources) -> int:
    """The ranks of the job: as given, or as the cores, the groups or the grid require."""
    if request.np is not None:
        return request.np
    if request.map is not None:
        return max(request.map[0] * request.map[1], *request.ranks, 1)
    if request.multi is not None:
        return max(resources.room, *request.ranks, 2)
    if resources.ppn is not None:
        return resources.room
    if request.ranks:
        return max(request.ranks)
    if threads.are_requested(request, chosen):
        return len(resources.all_hosts)
    kinds = {card.ranks for card in chosen}
    if not kinds <= {"one", "pair"}:
        return max(resources.room, request.npmin or 1)
    if "pair" in kinds:
        return 2
    return 1


def check_ranks(request: Request, chosen: Sequence[Card], world: int) -> None:
    """UserError: the job has too few ranks for the request."""
    if request.ranks and max(request.ranks) > world:
        raise UserError(
            f"--ranks wants groups of {max(request.ranks)} ranks, the job has {world}; "
            "make it larger with --np, or name smaller groups"
        )
    if request.map and request.map[0] * request.map[1] > world:
        raise UserError(
            f"--rank-grid {request.map[0]}x{request.map[1]} needs "
            f"{request.map[0] * request.map[1]} "
            f"ranks, the job has {world}"
        )
    groups = request.ranks or (world,)
    for card in chosen:
        counts = (world,) if card.ranks == "pair" else groups
        if not any(map(card.fits, counts)):
            count = min(world, *groups)
            raise UserError(
                f"{card.name} {_NEEDS[card.ranks]}, the job has {count}{_for_hosts(request)}"
            )


def _for_hosts(request: Request) -> str:
    """The remedy if ranks were requested for each host and no hosts are named."""
    for word in request.place:
        name, _, argument = of_policy(word).partition(":")
        if name == "ppr" and argument.endswith(":node") and not request.hosts:
            count = argument.partition(":")[0]
            each = "one rank" if count == "1" else many(count, "rank")
            return f"; --place {word} is {each} for each host: name hosts, --hosts a,b"
    return ""


def check_options(request: Request, chosen: Sequence[Card], cards: Cards) -> None:
    """UserError: an option affects none of these benchmarks, or contradicts another. Needs neither
    an MPI nor a machine."""
    check_effect(request, chosen, cards)
    if request.memory:
        from mpigauge.measuring.plan.memory.memory_check import check_memory

        check_memory(request, chosen, cards.named(request.benchmarks))
    thread_levels.check(request.suite_options, chosen)
    data_and_op(request, chosen, cards)


def check_effect(request: Request, chosen: Sequence[Card], cards: Cards) -> None:
    """UserError: an option affects none of these benchmarks."""
    names = first_few(card.name for card in chosen) or "programs that are not ours"
    used = {name for card in chosen for name in card.options}
    for name in request.suite_options:
        if name not in used:
            others = [card for card in cards if name in card.options]
            raise UserError(
                f"{flag_of(name)} has no effect on {names}{_for_others(others, chosen)}"
            )
    for option, what_they_do, is_one in _asked_effects(request):
        if not any(is_one(card) for card in chosen):
            raise UserError(
                f"{option} has no effect on {names}; it is for benchmarks that {what_they_do}"
            )


def _for_others(others: Sequence[Card], chosen: Sequence[Card]) -> str:
    """The suites that an option is for; for those with a chosen benchmark also its names."""
    words = []
    for suite, cards in grouped(others, lambda card: card.suite).items():
        is_chosen = any(card.suite == suite for card in chosen)
        words.append(f"{suite} ({first_few(c.name for c in cards)})" if is_chosen else suite)
    return f"; it is for {', '.join(words)}" if words else ""


def _asked_effects(request: Request) -> Iterator[tuple[str, str, Callable[[Card], bool]]]:
    """Each given option that affects some benchmarks only: its name, a description of these, and a
    predicate for cards."""
    yield from _asked_of_messages(request)
    if request.op:
        yield "--op", "reduce", lambda card: card.unit == "reduction"
    if request.root_shift:
        yield "--root-shift", "have a root", lambda card: card.rooted
    if request.inflight is not None:
        yield "--inflight", "keep messages in flight", lambda card: card.windowed
    if request.data != "static":
        yield "--data", "send data that could be fresh", lambda card: not card.why_static
    if request.blas:
        yield "--blas", "call a BLAS", lambda card: BLAS in card.options
    if request.compilers:
        yield "--compiler", "are simple loops", lambda card: COMPILER in card.options


def _asked_of_messages(request: Request) -> Iterator[tuple[str, str, Callable[[Card], bool]]]:
    """The options that affect messages, buffers or groups, in the same form."""
    if request.datatype:
        yield "--datatype", "send data of a type", lambda card: card.typed
    if request.sizes is not None:
        yield "--sizes", "have messages of several sizes", lambda card: card.is_sized
    if request.cache != "hot":
        yield "--cache", "have buffers", lambda card: card.buffers
    if request.memory:
        yield "--memory", "have buffers", lambda card: card.buffers
    if request.memory_limit:
        yield "--memory-limit", "have buffers", lambda card: card.buffers
    if request.sync != "auto":
        yield "--sync", "bring ranks together first", lambda card: card.sync == "each"
    if request.npmin is not None:
        yield "--npmin", "have groups of several sizes", lambda card: card.ranks not in _FIXED
    if request.map is not None:
        yield "--rank-grid", "have several ranks", lambda card: card.ranks != "one"


def check_root(options: Mapping[str, str], parts: Sequence[PlanPart]) -> None:
    """UserError: no group has this rank. Groups too small for it are left out with a reason."""
    most = max((part.largest_group for part in parts), default=0)
    root = int(options.get(ROOT, 0))
    if root and root >= most:
        raise UserError(f"--root: there is no rank {root} of {most}; name one from 0 to {most - 1}")


def data_and_op(request: Request, chosen: Sequence[Card], cards: Cards) -> tuple[str, str]:
    datatype = cards.datatype(_bare(request.datatype)) if request.datatype else ""
    op = cards.op(_bare(request.op)) if request.op else "sum"
    if any(card.unit == "reduction" for card in chosen):
        cards.check_op(op, datatype or "float")
    return datatype, op


def check_settings(request: Request, mpi: Mpi) -> None:
    """UserError: MPICH and its relatives get an MCA parameter, which they would silently ignore."""
    for name in request.settings:
        if mpi.abi != "ompi" and name == name.lower():
            raise UserError(
                f"--set {name}: the settings of {mpi.label} are environment variables in "
                f"capitals; {name} resembles an MCA parameter of Open MPI"
            )


def _bare(name: str) -> str:
    """The name without MPI_, as in MPI_FLOAT."""
    if name.upper().startswith(MPI_PREFIX):
        return name[len(MPI_PREFIX) :]
    return name
