# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which rank would sit where, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.placement import Seat
from mpigauge.model.suite_options import THREAD_LEVEL
from mpigauge.model.units import many
from mpigauge.site.placement import cores_of
from mpigauge.site.topology.levels import Levels

if TYPE_CHECKING:
    from mpigauge.measure.plan import PlanPart, Resources
    from mpigauge.model.hosts import HostRanks

HEADS = ("rank", "host", "cpuset", "core", "NUMA", "socket", "shares with rank 0")


class _Taken(NamedTuple):
    """The seat of a rank."""

    host: str
    pus: frozenset[int]
    levels: Levels


def seat_lines(part: PlanPart, resources: Resources) -> list[str]:
    """A line that says what is placed how, and a line for each rank. Placements that share a job
    come one after the other, the ranks of each counted from 0."""
    if part.places:
        return _shared_job(part, resources)
    ranks = many(part.world_ranks, "rank")
    title = f"{part.placement or 'a core for each rank'}: {ranks}, {_what(part)}"
    if not any(block.bind for block in part.blocks):
        where = "".join(f"; {b.ranks} on {b.host}" for b in part.hosts)
        return [title, f"  not bound: the launcher and the system decide{where}"]
    return _table(title, _in_order(part, resources))


def _shared_job(part: PlanPart, resources: Resources) -> list[str]:
    seats, what = _in_order(part, resources), _what(part)
    lines: list[str] = []
    for members, name in part.places.items():
        two = [seats[int(rank)] for rank in members.split(",")]
        lines += ([""] if lines else []) + _table(f"{name}: 2 ranks, {what}", two)
    return lines


def _what(part: PlanPart) -> str:
    level = part.suite_options.get(THREAD_LEVEL)
    return ", ".join(part.benchmarks) + (f" at thread level {level}" if level else "")


def _table(title: str, seats: list[_Taken]) -> list[str]:
    rows = [_row(rank, seats[0], seat) for rank, seat in enumerate(seats)]
    wide = [max(map(len, column)) for column in zip(HEADS, *rows, strict=True)]
    return [title, *("  " + _line(words, wide) for words in (HEADS, *rows))]


def seats_of(part: PlanPart, resources: Resources) -> tuple[list[Seat], dict[str, Levels]]:
    """Of rank 0, 1, … by the name that the host gives itself, and what each host is built like."""
    taken = _in_order(part, resources)
    levels = {seat.levels.topology.hostname: seat.levels for seat in taken}
    return [Seat(seat.levels.topology.hostname, seat.pus) for seat in taken], levels


def _in_order(part: PlanPart, resources: Resources) -> list[_Taken]:
    """The seat of rank 0, 1, …"""
    by_host = [_on(block, resources) for block in part.blocks]
    if not part.in_turn:
        return [seat for seats in by_host for seat in seats]
    return [by_host[rank % len(by_host)][rank // len(by_host)] for rank in range(part.world_ranks)]


def _on(block: HostRanks, resources: Resources) -> list[_Taken]:
    topology = resources.topology(block)
    levels, host = Levels.of(topology), block.host or topology.hostname
    entries = block.bind[: block.ranks] or ("",) * block.ranks
    return [_Taken(host, cores_of(entry) if entry else frozenset(), levels) for entry in entries]


def _row(rank: int, first: _Taken, seat: _Taken) -> tuple[str, ...]:
    pus = [pu for pu in seat.levels.topology.pus if pu.number in seat.pus]
    return (
        str(rank),
        seat.host,
        as_list(seat.pus) or "any",
        as_list({pu.core for pu in pus}),
        as_list({pu.numa for pu in pus}),
        as_list({pu.package for pu in pus}),
        _shared(first, seat) if rank else "",
    )


def _shared(first: _Taken, seat: _Taken) -> str:
    if first.host != seat.host:
        return "the network"
    if not (first.pus and seat.pus):
        return "node"
    return seat.levels.closest(min(first.pus), min(seat.pus))


def _line(words: tuple[str, ...], wide: list[int]) -> str:
    return "  ".join(f"{word:<{w}}" for word, w in zip(words, wide, strict=True)).rstrip()
