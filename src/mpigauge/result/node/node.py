# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Results of the suite NODE about a machine: its memory, its cores, its least latency."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.grouping import grouped
from mpigauge.model.names import COMPILER
from mpigauge.model.row import NOTHING
from mpigauge.result.node.products import SINGLE, is_single, products, throttles
from mpigauge.result.node.threads import (
    Enough,
    Placed,
    ThreadCurve,
    enough,
    is_usual,
    places,
    remote_shares,
    settings_of_row,
    sweeps,
)
from mpigauge.result.stats.launches import OR

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate, Row
    from mpigauge.result.node.products import Product, Throttle

TUNED = "_tuned"
PAST_CACHES = "past the caches"
STREAMS = {
    "Read": 1.0, "Write": 2.0, "Copy": 3 / 2, "Scale": 3 / 2, "Add": 4 / 3, "Triad": 4 / 3,
    "Update": 1.0, "Dot": 1.0,
}  # fmt: skip
"""Bytes that go over the bus for each that STREAM counts, where a line that is written has to be
fetched before."""
SAME_CLOCK = 0.02
"""The largest relative difference at which two clock rates agree."""


@dataclass(frozen=True)
class Stream:
    """One way to go over memory, on so many ranks."""

    name: str
    ranks: int
    message_bytes: int
    row: Row
    limit: float
    """The best of all streams on as many ranks, in bytes per second."""
    plain: Row | None = None
    """The simple loop, where this is the tuned one."""

    @property
    def tuned(self) -> bool:
        return self.row.cell.benchmark.endswith(TUNED)

    @property
    def bandwidth(self) -> Estimate:
        return self.row.bandwidth or NOTHING

    @property
    def on_bus(self) -> float | None:
        """Bytes per second with what is fetched only to be written to; None: not known of a
        library's own way, nor where launches took different ones."""
        past = {PAST_CACHES in way for way in self.row.cell.variant.split(OR)}
        if self.name not in STREAMS or len(past) > 1:
            return None
        if past == {True}:
            return self.bandwidth.value
        return self.bandwidth.value * STREAMS[self.name]

    @property
    def gain(self) -> float:
        """The ratio to the simple loop; NaN: there is nothing to compare."""
        if self.plain is None or self.plain.bandwidth is None:
            return math.nan
        return self.bandwidth.value / self.plain.bandwidth.value


@dataclass(frozen=True)
class ClockRate:
    """Cycles per second, by two chains of instructions that need each other's results."""

    by_multiply: Estimate
    by_xor: Estimate

    @property
    def agrees(self) -> bool:
        return abs(self.by_multiply.value / self.by_xor.value - 1) <= SAME_CLOCK

    @property
    def hz(self) -> float:
        """NaN where they disagree: then neither is to be believed."""
        if self.agrees:
            return self.by_xor.value
        return math.nan


@dataclass(frozen=True)
class Floor:
    """A message of an MPI, and what two cores need for as much without any."""

    row: Row
    message: Row | None = None

    @property
    def ratio(self) -> float:
        """The message's time by that of the two cores; NaN where no message was measured."""
        if self.message is None:
            return math.nan
        return self.message.latency.value / self.row.latency.value


@dataclass(frozen=True)
class NodeResult:
    streams: tuple[Stream, ...]
    curves: Mapping[int, Mapping[str, Row]]
    """The rows of one rank, by the bytes of an array and the benchmark."""
    peaks: tuple[Row, ...]
    clocks: Mapping[int, ClockRate]
    """The clock rate by the number of ranks that counted at the same time."""
    floors: tuple[Floor, ...]
    sweeps: tuple[ThreadCurve, ...] = ()
    places: tuple[Placed, ...] = ()
    products: tuple[Product, ...] = ()
    throttles: tuple[Throttle, ...] = ()
    cache_bytes: int = 0
    """The largest cache of the machine; 0: not known."""

    @property
    def is_of_machine(self) -> bool:
        """True if it has more than the limits that messages are compared with."""
        return bool(self.streams or self.peaks or self.products or self.sweeps or self.places)

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(sorted({stream.ranks for stream in self.streams}))

    @property
    def double_peaks(self) -> list[Row]:
        """The peaks in double precision."""
        return [row for row in self.peaks if not is_single(row)]

    def single_peak(self, of: Row) -> Row | None:
        """The peak in single precision beside one in double precision."""
        key = (f"{of.cell.benchmark}{SINGLE}", of.ranks)
        for row in self.peaks:
            if (row.cell.benchmark, row.ranks) == key:
                return row
        return None

    @property
    def best_peak(self) -> Row | None:
        """The highest peak in double precision, on whatever number of ranks."""
        rows = [row for row in self.double_peaks if row.rate]
        return max(rows, key=lambda row: (row.rate or NOTHING).value, default=None)

    @property
    def best_triad(self) -> Stream | None:
        """The fastest Triad, on whatever number of ranks."""
        triads = [stream for stream in self.streams if stream.name == "Triad"]
        return max(triads, key=lambda stream: stream.bandwidth.value, default=None)

    @property
    def best_product(self) -> Product | None:
        """The fastest product of matrices in double precision."""
        products = [each for each in self.products if each.name == "DGEMM"]
        return max(products, key=lambda each: each.speed.value, default=None)

    @property
    def mailbox(self) -> Floor | None:
        """The least that a message needs between two cores."""
        for floor in self.floors:
            if floor.row.cell.benchmark == "Mailbox":
                return floor
        return None

    @property
    def remote_shares(self) -> tuple[float, ...]:
        """Bandwidth of remote memory over that of local memory, the least first."""
        return remote_shares(self.places)

    def enough(self, name: str) -> Enough | None:
        """Ranks with which a stream comes close to its best."""
        speeds = {}
        for stream in self.streams:
            if stream.row.cell.benchmark == name:
                speeds[stream.ranks] = stream.bandwidth
        return enough(speeds)


def node(rows: Iterable[Row], counter_hz: float = math.nan) -> NodeResult | None:
    """Returns the results of a node; None: no rows are of the suite NODE. `counter_hz`: the clock
    that the machine reports."""
    all_rows = list(rows)
    of_node = [row for row in all_rows if row.cell.suite == NODE_SUITE]
    if not of_node:
        return None
    by_kernels = [row for row in of_node if COMPILER not in settings_of_row(row)]
    ours = [row for row in of_node if is_usual(row)]
    peaks = [row for row in ours if row.cell.benchmark.startswith("Peak_")]
    clocks = _clocks(ours)
    measured = {ranks: clock.hz for ranks, clock in clocks.items()}
    return NodeResult(
        streams=tuple(_streams(ours)),
        curves=_curves(ours),
        peaks=tuple(peaks),
        clocks=clocks,
        floors=tuple(_floors(all_rows, ours)),
        sweeps=sweeps(by_kernels),
        places=places(by_kernels),
        products=products(of_node, measured, counter_hz),
        throttles=throttles(of_node),
    )


def _streams(ours: Sequence[Row]) -> Iterable[Stream]:
    """Yields the streams over the largest arrays of each number of ranks, which lie in memory."""
    rows = [row for row in ours if row.bandwidth and _is_stream(row)]
    for ranks, of_ranks in sorted(grouped(rows, lambda row: row.ranks).items()):
        size = largest_common(of_ranks)
        there = {row.cell.benchmark: row for row in of_ranks if row.message_bytes == size}
        limit = max((row.bandwidth or NOTHING).value for row in there.values())
        for benchmark, row in there.items():
            name = benchmark.removesuffix(TUNED)
            plain = there.get(name) if benchmark.endswith(TUNED) else None
            yield Stream(name, ranks, size, row, limit, plain)


def _is_stream(row: Row) -> bool:
    return row.cell.benchmark.removesuffix(TUNED) in (*STREAMS, "Memcpy")


def largest_common(rows: Sequence[Row]) -> int:
    """The largest size that most benchmarks have."""
    counts = Counter(row.message_bytes for row in rows)
    return max(counts, key=lambda size: (counts[size], size))


def _curves(ours: Sequence[Row]) -> dict[int, dict[str, Row]]:
    """Returns rows of one rank at the sizes of Chase, by the bytes of an array and benchmark."""
    chased = {row.message_bytes for row in ours if row.cell.benchmark.startswith("Chase")}
    curves: dict[int, dict[str, Row]] = {}
    for row in ours:
        name = row.cell.benchmark
        if row.ranks != 1 or row.message_bytes not in chased:
            continue
        if name in ("Triad", "Chase", "Chase_huge"):
            curves.setdefault(row.message_bytes, {})[name] = row
    return dict(sorted(curves.items()))


def _clocks(ours: Sequence[Row]) -> dict[int, ClockRate]:
    rates = {(row.cell.benchmark, row.ranks): row.rate for row in ours if row.rate}
    both = {}
    for (name, ranks), rate in rates.items():
        other = rates.get(("Clock_xor", ranks))
        if name == "Clock_multiply" and other:
            both[ranks] = ClockRate(rate, other)
    return both


def _floors(rows: Sequence[Row], ours: Sequence[Row]) -> Iterable[Floor]:
    """Yields the floors: an empty message next to a line for each way, the least that a queue
    needs; one of 8 bytes next to the line with a payload."""
    messages = {}
    for row in rows:
        if row.benchmark == "PingPong" and row.cell.data != "fresh":
            messages[row.message_bytes] = row
    beside = {"Line": None, "Mailbox": messages.get(0), "Payload": messages.get(8)}
    for row in ours:
        if row.cell.benchmark in beside:
            yield Floor(row, beside[row.cell.benchmark])
