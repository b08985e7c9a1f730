# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Collectives against the least that any algorithm takes, with α and β of the same run.

In the model in which a rank sends one message and receives one at a time, each taking α + β·n, a
collective takes at least ⌈log₂ P⌉ · α, for what one rank has must reach all, and at least β times
the bytes that some rank has to send or receive (E. Chan, M. Heimlich, A. Purkayastha, R. van de
Geijn, Concurrency and Computation 19 (2007) 1749, table 1; R. Thakur, R. Rabenseifner, W. Gropp,
IJHPCA 19 (2005) 49). Both hold, so the larger is the bound; their sum is not, for one algorithm
rarely reaches both. The time of the reduction itself is left out, which only lowers the bound.

α is the shortest half round trip of PingPong and β one by its largest bandwidth: the best of what
was measured. A collective below the bound does not break a law: ranks that share memory need not
send messages.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from mpigauge.model.column_facts import HOW
from mpigauge.model.grouping import grouped
from mpigauge.model.row import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.model.row import Row

Bytes = Callable[[int, int], float]
"""Returns the bytes that some rank must send or receive, of P ranks and a size of the table."""


def _each(ranks: int, size: int) -> float:
    """The size counts what each rank has for one other, or has of its own."""
    return float((ranks - 1) * size)


MOVED: Mapping[str, Bytes] = {
    "Barrier": lambda _, __: 0.0,
    "Bcast": lambda _, size: float(size),
    "Reduce": lambda _, size: float(size),
    "Allreduce": lambda ranks, size: 2 * size * (ranks - 1) / ranks,
    "Allgather": _each,
    "Allgatherv": _each,
    "Gather": _each,
    "Gatherv": _each,
    "Scatter": _each,
    "Scatterv": _each,
    "Alltoall": _each,
    "Alltoallv": _each,
}
"""Reduce_scatter is not here: its sizes mean different things in different versions of IMB."""
_ALIKE = tuple(name for name in HOW if name not in ("sync", "root_shift", "statistic"))


@dataclass(frozen=True)
class Network:
    """The least cost of messages between two ranks."""

    alpha_s: Estimate
    beta_s_per_byte: Estimate


@dataclass(frozen=True)
class Bound:
    row: Row
    bound_s: Estimate
    limit: str
    """α or β: the term that limits."""

    @property
    def ratio(self) -> Estimate:
        """The time of the row relative to the bound."""
        time = self.row.latency
        return Estimate(
            time.value / self.bound_s.value,
            time.low / self.bound_s.high,
            time.high / self.bound_s.low,
        )


def network(rows: Sequence[Row]) -> Network | None:
    """The network of the PingPong among these rows; None: there is none with a bandwidth."""
    trips = [row for row in rows if row.cell.benchmark == "PingPong" and row.cell.suite == "MPI1"]
    fast = [row.bandwidth for row in trips if row.bandwidth]
    if not fast:
        return None
    alpha = min((row.latency for row in trips), key=lambda time: time.value)
    return Network(alpha, max(fast, key=lambda speed: speed.value).under(1.0))


def bounds(rows: Sequence[Row]) -> list[Bound]:
    """The bound of each collective of more than one rank that moves something, where PingPong was
    measured alike: the same placement, settings, caches and program."""
    alike = attrgetter(*_ALIKE)
    result: list[Bound] = []
    for of in grouped(rows, lambda row: alike(row.cell)).values():
        result += _bounds(of)
    return result


def _bounds(alike: Sequence[Row]) -> Iterable[Bound]:
    link = network(alike)
    if link is None:
        return
    for row in alike:
        moves = MOVED.get(row.cell.benchmark)
        collective = row.cell.suite == "MPI1" and row.ranks > 1 and row.message_bytes != 0
        if moves and collective:
            yield bound(row, link, moves)


def bound(row: Row, link: Network, moves: Bytes) -> Bound:
    """The larger of what starting and what moving takes."""
    start = link.alpha_s.times(math.ceil(math.log2(row.ranks)))
    through = link.beta_s_per_byte.times(moves(row.ranks, max(row.message_bytes, 0)))
    if start.value >= through.value:
        return Bound(row, start, "α")
    return Bound(row, through, "β")
