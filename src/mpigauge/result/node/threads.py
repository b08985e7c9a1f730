# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The gain from more threads of a rank, and the cost of memory on another NUMA node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.grouping import grouped
from mpigauge.model.names import CHASED, COMPILER, COMPUTE_ON, LOCAL, MEMORY_ON, ORDER
from mpigauge.model.row import NOTHING

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate, Row

TRIAD = "Triad_tuned"
ENOUGH = 0.95
"""The share of the best bandwidth that counts as all of it."""


def settings_of_row(row: Row) -> dict[str, str]:
    """The settings of a row by their names."""
    return dict(word.split("=", 1) for word in row.cell.settings.split() if "=" in word)


def is_usual(row: Row) -> bool:
    """True for a single thread, memory as the system places it, and loops of mpigauge."""
    return row.cell.threads == 1 and not {MEMORY_ON, ORDER, COMPILER} & set(settings_of_row(row))


class Enough(NamedTuple):
    """The fewest ranks or threads that come close to the best."""

    many: int
    least: int
    """The number if the errors of both are in its favour."""
    most: int
    """The number if the errors of both are against it."""


def enough(speeds: Mapping[int, Estimate]) -> Enough | None:
    """Returns the number that is enough, from the speed of each number. None: fewer than two."""
    if len(speeds) < 2:
        return None
    best = max(speeds, key=lambda count: speeds[count].value)

    def fewest(end: Callable[[Estimate], float], other: Callable[[Estimate], float]) -> int:
        least_speed = ENOUGH * other(speeds[best])
        for count in sorted(speeds):
            if count == best or end(speeds[count]) >= least_speed:
                return count
        return best

    count = fewest(attrgetter("value"), attrgetter("value"))
    least = fewest(attrgetter("high"), attrgetter("low"))
    most = fewest(attrgetter("low"), attrgetter("high"))
    return Enough(count, min(least, count), max(most, count))


@dataclass(frozen=True)
class ThreadCurve:
    """More and more threads of one rank, in one order of cores."""

    order: str
    speeds: Mapping[int, Mapping[str, Estimate]]
    """Bytes per second by the number of threads and the benchmark."""

    @property
    def enough(self) -> Enough | None:
        """Threads with which the tuned loop comes close to its best."""
        return enough({n: each[TRIAD] for n, each in self.speeds.items() if TRIAD in each})


@dataclass(frozen=True)
class Placed:
    """Cores of one NUMA node and memory on a node, by name, as requested and verified."""

    compute: str
    """The node of the cores; empty: they were not named."""
    memory: str
    bandwidth: Estimate | None
    """The bandwidth of the tuned triad, in bytes per second."""
    load: Estimate | None
    """Time of a load that needs the one before, in seconds."""

    @property
    def is_local(self) -> bool:
        return self.memory in (LOCAL, self.compute)


def sweeps(rows: Iterable[Row]) -> tuple[ThreadCurve, ...]:
    """Returns the curves over the largest arrays, without rows with placed memory."""
    by_order: dict[str, dict[int, dict[str, Estimate]]] = {}
    for row in _largest([r for r in rows if not is_usual(r) and r.ranks == 1]):
        if MEMORY_ON in settings_of_row(row) or row.bandwidth is None:
            continue
        of_order = by_order.setdefault(settings_of_row(row).get(ORDER, "compact"), {})
        of_order.setdefault(row.cell.threads, {})[row.cell.benchmark] = row.bandwidth
    curves = []
    for order, speeds in sorted(by_order.items()):
        curves.append(ThreadCurve(order, dict(sorted(speeds.items()))))
    return tuple(curves)


def places(rows: Iterable[Row]) -> tuple[Placed, ...]:
    """Places of threads in the order of compute nodes, then as memory was named."""
    spots: dict[tuple[str, str], dict[str, Row]] = {}
    for row in _largest([row for row in rows if MEMORY_ON in settings_of_row(row)]):
        compute = ""
        if row.cell.placement.startswith(COMPUTE_ON):
            compute = row.cell.placement.removeprefix(COMPUTE_ON)
        spots.setdefault((compute, settings_of_row(row)[MEMORY_ON]), {})[row.cell.benchmark] = row
    return tuple(_placed(*key, spots[key]) for key in sorted(spots, key=_in_order))


def _placed(compute: str, memory: str, there: Mapping[str, Row]) -> Placed:
    """`there`: rows by their benchmark."""
    triad, chase = there.get(TRIAD), there.get(CHASED)
    bandwidth = triad.bandwidth if triad else None
    load = chase.latency if chase else None
    return Placed(compute, memory, bandwidth, load)


def _in_order(key: tuple[str, str]) -> tuple[tuple[bool, int, str], ...]:
    """Numbers by their size, then words."""
    return tuple((False, int(word), word) if word.isdecimal() else (True, 0, word) for word in key)


def _largest(rows: Sequence[Row]) -> list[Row]:
    """Returns the rows over the largest arrays of each benchmark, which are in memory."""
    largest: dict[str, int] = {}
    for benchmark, of in grouped(rows, lambda row: row.cell.benchmark).items():
        largest[benchmark] = max(row.message_bytes for row in of)
    return [row for row in rows if row.message_bytes == largest[row.cell.benchmark]]


def remote_shares(placements: Sequence[Placed]) -> tuple[float, ...]:
    """Bandwidth of remote memory over that of local memory from the same cores, the least first."""
    local = {each.compute: each.bandwidth or NOTHING for each in placements if each.is_local}
    shares = []
    for each in placements:
        if each.is_local or not each.memory.isdecimal() or each.compute not in local:
            continue
        share = (each.bandwidth or NOTHING).value / local[each.compute].value
        if not isnan(share):
            shares.append(share)
    return tuple(sorted(shares))
