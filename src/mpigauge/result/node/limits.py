# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Results of the suite NODE other than streams: levels of the caches, loads while others use the
memory, and messages by plain copies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.grouping import grouped
from mpigauge.model.names import CHASED, COPIES, MESSAGE
from mpigauge.result.node.threads import is_usual
from mpigauge.result.stats.plateaus import Plateau, plateaus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.model.row import Row

FRESH = "_fresh"
CURVES = ("Chase_huge", "Chase", "Triad")
SHARES = {"_eighth": 1 / 8, "_quarter": 1 / 4, "_half": 1 / 2, "": 1.0}
"""The share of time in which the others read, by the suffix of a benchmark's name."""


@dataclass(frozen=True)
class Steps:
    """A curve of one rank from cache to memory."""

    benchmark: str
    levels: tuple[Plateau, ...]
    last_bytes: int
    """The largest size that was measured."""


@dataclass(frozen=True)
class LoadedMemory:
    """The latency of a load while other ranks read memory."""

    others: int
    load: Row
    others_read: Row | None
    """The bandwidth of the others; None: no others, or not measured."""
    share: float = 1.0
    """The share of time in which they read; they pause in between."""


@dataclass(frozen=True)
class Copied:
    """Messages of one size: by copies alone, and by MPI."""

    message_bytes: int
    rows: Mapping[str, Row]
    """The rows by benchmark; MPI's with fresh data as PingPong_fresh."""

    def share(self, way: str) -> float | None:
        """Returns the bandwidth of MPI's message relative to these copies, both with fresh data or
        neither. The copies' time includes writing the data, so it is added to MPI's. None: a time
        is unknown."""
        name, written = MESSAGE, 0.0
        if way.endswith(FRESH):
            name = MESSAGE + FRESH
        mpi, copies = self.rows.get(name), self.rows.get(way)
        if mpi is None or copies is None:
            return None
        if way.endswith(FRESH):
            written = mpi.cell.time_write_s
        share = copies.latency.value / (mpi.latency.value + written)
        if math.isfinite(share):
            return share
        return None


@dataclass(frozen=True)
class MemoryLevels:
    """The results of a node other than streams and peaks; each may be empty."""

    steps: tuple[Steps, ...]
    loaded: tuple[LoadedMemory, ...]
    copied: tuple[Copied, ...]


def memory_levels(rows: Sequence[Row]) -> MemoryLevels:
    return MemoryLevels(steps(rows), loaded(rows), copied(rows))


def steps(rows: Iterable[Row]) -> tuple[Steps, ...]:
    """The levels of a load and of Triad; the curve in huge pages, where there is one, is not that
    of finding pages."""
    of_node = [row for row in rows if row.cell.suite == NODE_SUITE and row.ranks == 1]
    usual = grouped(filter(is_usual, of_node), lambda row: row.cell.benchmark)
    result: list[Steps] = []
    for name in CURVES:
        curve = usual.get(name, [])
        if len(curve) > 2 and not (name == "Chase" and result):
            points = [(row.message_bytes, row.bandwidth or row.latency) for row in curve]
            largest = max(row.message_bytes for row in curve)
            result.append(Steps(name, plateaus(points), largest))
    return tuple(result)


def loaded(rows: Iterable[Row]) -> tuple[LoadedMemory, ...]:
    """Memory under load, from none of the others on, and from little to all of their time; the
    first is of the same size alone."""
    by_key = {_key(row): row for row in rows if row.cell.suite == NODE_SUITE}
    sizes = [size for name, _, size in by_key if name.startswith("Chase_loaded")]
    if not sizes:
        return ()
    largest = max(sizes)
    result = []
    alone = by_key.get((CHASED, 1, largest))
    if alone:
        result.append(LoadedMemory(0, alone, None))
    beside = []
    for (name, ranks, size), row in by_key.items():
        for end, share in SHARES.items():
            if name == f"Chase_loaded{end}" and size == largest:
                others_read = by_key.get((f"Read_loaded{end}", ranks, size))
                beside.append(LoadedMemory(ranks - 1, row, others_read, share))
    beside.sort(key=lambda each: (each.others, each.share))
    return (*result, *beside)


def copied(rows: Iterable[Row]) -> tuple[Copied, ...]:
    """Sizes that were copied, in order; MPI's rows that differ from the usual in more than their
    data are left out."""
    copies: dict[int, dict[str, Row]] = {}
    messages: dict[int, dict[str, Row]] = {}
    for row in rows:
        cell = row.cell
        if cell.suite == NODE_SUITE and cell.benchmark in COPIES:
            copies.setdefault(row.message_bytes, {})[cell.benchmark] = row
        elif row.benchmark == MESSAGE and _usual(row):
            name = MESSAGE + (FRESH if cell.data == "fresh" else "")
            messages.setdefault(row.message_bytes, {})[name] = row
    return tuple(Copied(size, of | messages.get(size, {})) for size, of in sorted(copies.items()))


def _key(row: Row) -> tuple[str, int, int]:
    return row.cell.benchmark, row.ranks, row.message_bytes


def _usual(row: Row) -> bool:
    cell = row.cell
    return cell.cache == "hot" and cell.groups == 1 and not cell.arm and not cell.members
