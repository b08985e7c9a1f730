# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The placement of ranks as a table."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.placement import Seat
from mpigauge.model.placement_words import HOST, HOSTS
from mpigauge.model.suite_options import THREAD_LEVEL
from mpigauge.model.units import many
from mpigauge.model.width import left_aligned, widths
from mpigauge.site.placement import cores_of
from mpigauge.site.topology.levels import Levels

if TYPE_CHECKING:
    from mpigauge.measuring.plan import PlanPart, Resources
    from mpigauge.model.hosts import HostRanks

HEADS: tuple[str, ...] = ("rank", "host", "cpuset", "core", "NUMA", "socket", "to rank 0")
GPU = "GPU"
"""The head of a column that only ranks with buffers on GPUs have."""


class _Taken(NamedTuple):
    """The seat of a rank."""

    host: str
    pus: frozenset[int]
    levels: Levels
    gpu: str = ""
    """The PCI address of the rank's GPU; empty: it uses none."""


def seat_lines(part: PlanPart, resources: Resources) -> list[str]:
    """A line that says what is placed how, and a line for each rank. Placements that share a job
    come one after the other, the ranks of each counted from 0."""
    if part.places:
        return _shared_job(part, resources)
    ranks = many(part.world_ranks, "rank")
    is_bound = any(block.bind for block in part.blocks)
    usual = "a core for each rank" if is_bound else "ranks on any core"
    title = f"{part.placement or usual}: {ranks}, {_what(part)}"
    if not is_bound:
        line = "  not bound: the launcher and the system decide"
        for block in part.hosts:
            line += f"; {block.ranks} on {block.host}"
        gpus = [f"  on GPU {', '.join(block.gpus)}" for block in part.blocks if block.gpus]
        return [title, line, *gpus]
    return _table(title, _in_order(part, resources))


def _shared_job(part: PlanPart, resources: Resources) -> list[str]:
    seats, what = _in_order(part, resources), _what(part)
    lines: list[str] = []
    for members, name in part.places.items():
        two = [seats[int(rank)] for rank in members.split(",")]
        if lines:
            lines.append("")
        lines += _table(f"{name}: 2 ranks, {what}", two)
    return lines


def _what(part: PlanPart) -> str:
    names = ", ".join(part.benchmarks)
    if level := part.suite_options.get(THREAD_LEVEL):
        return f"{names} at thread level {level}"
    return names


def _table(title: str, seats: list[_Taken]) -> list[str]:
    gpu = (GPU,) if any(seat.gpu for seat in seats) else ()
    rows = [HEADS + gpu]
    for rank, seat in enumerate(seats):
        rows.append(_row(rank, seats[0], seat) + ((seat.gpu,) if gpu else ()))
    wide = widths(rows)
    lines = [title]
    for words in rows:
        lines.append(f"  {left_aligned(words, wide)}")
    return lines


def seats_of(part: PlanPart, resources: Resources) -> tuple[list[Seat], dict[str, Levels]]:
    """The seats of rank 0, 1, … by the name that the host gives itself, and what each host is built
    like."""
    taken = _in_order(part, resources)
    levels = {seat.levels.topology.hostname: seat.levels for seat in taken}
    return [Seat(seat.levels.topology.hostname, seat.pus) for seat in taken], levels


def _in_order(part: PlanPart, resources: Resources) -> list[_Taken]:
    """The seat of rank 0, 1, …"""
    by_host = [_on(block, resources) for block in part.blocks]
    if not part.in_turn:
        return list(chain.from_iterable(by_host))
    taken: list[_Taken] = []
    for rank in range(part.world_ranks):
        seat, host = divmod(rank, len(by_host))
        taken.append(by_host[host][seat])
    return taken


def _on(block: HostRanks, resources: Resources) -> list[_Taken]:
    topology = resources.topology(block)
    levels = Levels.of(topology)
    host = block.host or topology.hostname
    taken: list[_Taken] = []
    gpus = block.gpus or ("",) * block.ranks
    for entry, gpu in zip(block.bind[: block.ranks] or ("",) * block.ranks, gpus, strict=False):
        pus: frozenset[int] = frozenset()
        if entry:
            pus = cores_of(entry)
        taken.append(_Taken(host, pus, levels, gpu))
    return taken


def _row(rank: int, first: _Taken, seat: _Taken) -> tuple[str, ...]:
    cores: set[int] = set()
    nodes: set[int] = set()
    packages: set[int] = set()
    for pu in seat.levels.topology.pus:
        if pu.number in seat.pus:
            cores.add(pu.core)
            nodes |= set() if pu.numa is None else {pu.numa}
            packages.add(pu.package)
    distance = ""
    if rank:
        distance = _distance(first, seat)
    pus = as_list(seat.pus) or "any"
    return (str(rank), seat.host, pus, *map(as_list, (cores, nodes, packages)), distance)


def _distance(first: _Taken, seat: _Taken) -> str:
    """Returns the distance of two ranks, in the words of `--place`."""
    if first.host != seat.host:
        return HOSTS
    if not (first.pus and seat.pus):
        return HOST
    return seat.levels.closest(min(first.pus), min(seat.pus))
