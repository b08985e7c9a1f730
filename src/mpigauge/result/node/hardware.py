# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The limits of a node's hardware, from a run of the suite NODE, to compare messages with.

A message through a queue between two cores needs a cache line each way: the *mailbox* floor. One
through memory is copied once or twice: the copies have the size of the message if that was
measured, else they go past the caches. Messages through caches may be faster, so these limits are
no strict bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.cpu_lists import pus_of
from mpigauge.model.moments import moment_of
from mpigauge.model.row import NOTHING, Estimate
from mpigauge.result.node.limits import FRESH
from mpigauge.result.node.node import largest_common
from mpigauge.result.node.products import is_single
from mpigauge.result.node.threads import is_usual
from mpigauge.result.run_view import RunView

if TYPE_CHECKING:
    from mpigauge.model.record import Rank
    from mpigauge.model.row import Row
    from mpigauge.runs.store import Run

COPIES = ("Memcpy", "Copy", "Copy_tuned")
TRIADS = ("Triad", "Triad_tuned")
_PEAK = "Peak_"
_COPY_COUNTS = 2
"""Bytes that a copy counts for each that it copies, as STREAM does: read and written."""


@dataclass(frozen=True)
class Hardware:
    run: str
    """The name of the run that measured it."""
    created: str
    host: str
    pair: tuple[frozenset[int], ...]
    """The CPUs of the two ranks that exchanged cache lines; empty: unknown."""
    rows: tuple[Row, ...]
    """The rows of the suite NODE."""

    @cached_property
    def line_s(self) -> Estimate | None:
        """A cache line that two cores write in turn, one way."""
        return _latency(self._of("Line"))

    @cached_property
    def mailbox_s(self) -> Estimate | None:
        """Two lines, one for each way: the least that a queue needs."""
        return _latency(self._of("Mailbox"))

    @cached_property
    def one_copy(self) -> Estimate | None:
        """Bytes of messages per second that one core can copy from memory to memory."""
        return _copied(_in_memory(self._of(*COPIES, ranks=1)), copies=1)

    @cached_property
    def two_copies(self) -> Estimate | None:
        """The bandwidth of two cores that copy each byte at once: into a shared buffer and out of
        it."""
        return _copied(_in_memory(self._of(*COPIES, ranks=2)), copies=2)

    def copies_of(self, message: Row) -> Iterator[tuple[str, Estimate]]:
        """Yields the copies to compare a message with: of as many bytes of such data between two
        ranks if these were measured, else copies in memory."""
        fresh = FRESH if message.cell.data == "fresh" else ""
        for name, benchmark, in_memory in (
            ("one copy", "Copy_once", self.one_copy),
            ("two copies", "Copy_twice", self.two_copies),
        ):
            same = _bandwidth_of(self._of(benchmark + fresh, ranks=2), message.message_bytes)
            if same:
                yield f"{name} of as much", same
            elif in_memory:
                yield f"{name} in memory", in_memory

    @cached_property
    def triad(self) -> Row | None:
        """The fastest triad in memory, on as many ranks as it was measured on."""
        return max(_in_memory(self._of(*TRIADS)), key=_bandwidth, default=None)

    @cached_property
    def peak(self) -> Row | None:
        """Most operations per second, in double precision."""
        rows = []
        for row in self.rows:
            if row.cell.benchmark.startswith(_PEAK) and row.rate and not is_single(row):
                rows.append(row)
        return max(rows, key=lambda row: (row.rate or NOTHING).value, default=None)

    def concerns(self, ranks: Sequence[Rank]) -> bool:
        """True if these are two ranks on the host and cores on which the limits were measured."""
        if not len(ranks) == len(self.pair) == 2:
            return False
        hosts, cpus = set(), set()
        for rank in ranks:
            hosts.add(rank.host)
            cpus.add(pus_of(rank))
        return hosts == {self.host} and cpus == set(self.pair)

    def seconds_after(self, created: str) -> float | None:
        """Returns the seconds from `created` until it was made; negative: before. None: unknown."""
        own, other = moment_of(self.created), moment_of(created)
        if own is None or other is None:
            return None
        return (own - other).total_seconds()

    def _of(self, *names: str, ranks: int | None = None) -> list[Row]:
        """The rows of these benchmarks, on so many ranks in all groups; None: on any number."""
        rows = [row for row in self.rows if row.cell.benchmark in names]
        if ranks is None:
            return rows
        return [row for row in rows if row.ranks * row.cell.groups == ranks]


def hardware(run: Run) -> Hardware | None:
    """The machine as a run measured it; None: the run measured no node, or several hosts."""
    view = RunView.of(run)
    rows = tuple(row for row in view.rows if row.cell.suite == NODE_SUITE and is_usual(row))
    hosts = {rank.host for rank in run.ranks}
    if not rows or len(hosts) > 1:
        return None
    lines = [row for row in rows if row.cell.benchmark in ("Line", "Mailbox")]
    pair = view.ranks_of(lines[0]) if lines else ()
    return Hardware(
        run=run.path.name,
        created=str(run.header.get("created", "")),
        host="".join(hosts) or str(view.machine.get("hostname", "")),
        pair=tuple(pus_of(rank) for rank in pair),
        rows=rows,
    )


def same_node(one: Run, other: Run) -> bool:
    """True if two runs were made on the same machine, with the same CPUs allowed."""
    ours, theirs = (run.passport.get("machine") or {} for run in (one, other))
    for name in ("hostname", "cpu_model", "allowed"):
        if ours.get(name) != theirs.get(name):
            return False
    return bool(ours.get("hostname"))


def by(one: Estimate, other: Estimate) -> Estimate:
    """The quotient, its interval as wide as the two can make it."""
    return Estimate(one.value / other.value, one.low / other.high, one.high / other.low)


def _in_memory(rows: Sequence[Row]) -> list[Row]:
    """The rows over the arrays that most of them have; smaller ones may lie in caches."""
    size = largest_common(rows) if rows else 0
    return [row for row in rows if row.message_bytes == size]


def _latency(rows: Iterable[Row]) -> Estimate | None:
    """The time of the first row that has one above 0, in seconds."""
    for row in rows:
        if row.latency.value > 0:
            return row.latency
    return None


def _bandwidth_of(rows: Iterable[Row], message_bytes: int) -> Estimate | None:
    """The bandwidth of the first row of this size that has one, in bytes per second."""
    for row in rows:
        if row.message_bytes == message_bytes and row.bandwidth:
            return row.bandwidth
    return None


def _copied(rows: Iterable[Row], copies: int) -> Estimate | None:
    best = max(rows, key=_bandwidth, default=None)
    if best is None or best.bandwidth is None:
        return None
    return best.bandwidth.times(1 / (_COPY_COUNTS * copies))


def _bandwidth(row: Row) -> float:
    if row.bandwidth:
        return row.bandwidth.value
    return 0.0
