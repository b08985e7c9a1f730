# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A row of the result: one cell over all launches, with its interval and derived quantities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from mpigauge.model.bus_bandwidth import bus_bytes
from mpigauge.model.cards import benchmark_word
from mpigauge.model.units import byte_count, from_to, plus_minus

if TYPE_CHECKING:
    from mpigauge.model.between import Scatter
    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Key

ErrorKind = Literal["interval", "range", "one launch"]
"""interval: 95 %, over six launches or more; range: smallest to largest of fewer launches; one
launch: the 95 % interval within a launch, which does not include variation between launches."""


class Estimate(NamedTuple):
    """A number and the ends of its interval."""

    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """The distance to the farther end."""
        return max(self.high - self.value, self.value - self.low)

    @property
    def relative_error(self) -> float:
        """The error divided by the magnitude of the value; NaN without an interval or a value."""
        if self.value:
            return self.error / abs(self.value)
        return math.nan

    def times(self, factor: float) -> Estimate:
        return Estimate(self.value * factor, self.low * factor, self.high * factor)

    def under(self, amount: float) -> Estimate:
        """The quotient amount / self; the slower end gives the smaller quotient."""
        return Estimate(*(_ratio(amount, x) for x in (self.value, self.high, self.low)))


NOTHING = Estimate(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Row:
    cell: Cell
    """All columns over the launches: counts are summed, times are medians, flags are united."""
    low_s: float
    high_s: float
    kind: ErrorKind
    launches: int
    values_s: tuple[float, ...]
    """time_p50_s of each launch, in the order of launches."""
    stops: tuple[str, ...]
    """The reason why sampling ended, per launch."""
    numbers: tuple[int, ...] = ()
    """The numbers of these launches."""
    scatter: Scatter | None = None
    """The scatter between runs of its machine; None: unknown."""

    @property
    def key(self) -> Key:
        return self.cell.key

    @property
    def benchmark(self) -> str:
        """The benchmark's full name: NAME, or SUITE:NAME outside MPI1."""
        return benchmark_word(self.cell.suite, self.cell.benchmark)

    @property
    def cell_name(self) -> str:
        """The benchmark and message size, such as PingPong 1 MiB; without a size if it has no
        message."""
        return f"{self.benchmark} {byte_count(self.message_bytes)}".rstrip()

    @property
    def ranks(self) -> int:
        return self.cell.ranks

    @property
    def message_bytes(self) -> int:
        return self.cell.message_bytes

    @property
    def samples(self) -> int:
        return self.cell.samples

    @property
    def flags(self) -> tuple[str, ...]:
        return self.cell.flags

    @property
    def wrong_count(self) -> int:
        return self.cell.wrong_count

    @property
    def stop(self) -> str:
        """The most frequent reason to stop among the launches."""
        if self.stops:
            return max(dict.fromkeys(self.stops), key=self.stops.count)
        return ""

    @property
    def time(self) -> Estimate:
        """The time of one call in seconds, not halved."""
        return Estimate(self.cell.time_p50_s, self.low_s, self.high_s)

    @property
    def machine_time(self) -> Estimate:
        """The time of one call with the ends of the interval for this machine, which are NaN if its
        scatter is unknown."""
        if self.scatter is None:
            return Estimate(self.cell.time_p50_s, math.nan, math.nan)
        ends = math.exp(self.scatter.low), math.exp(self.scatter.high)
        return Estimate(self.cell.time_p50_s, *(self.cell.time_p50_s * end for end in ends))

    @property
    def latency(self) -> Estimate:
        """The printed time in seconds: half round trip for PingPong, a call elsewhere."""
        return self.time.times(self.cell.time_scale)

    @property
    def bandwidth(self) -> Estimate | None:
        """Bytes per second; None: the benchmark has no bandwidth."""
        if self.cell.moved_bytes > 0:
            return self.latency.under(self.cell.moved_bytes)
        return None

    @property
    def bus_bandwidth(self) -> Estimate | None:
        """Bytes per second as nccl-tests counts them; None: it has no definition for the
        benchmark."""
        if count := bus_bytes(self.cell):
            return self.latency.under(count)
        return None

    @property
    def rate(self) -> Estimate | None:
        """Messages per second; None: the benchmark has no message rate."""
        if self.cell.messages > 0:
            return self.latency.under(self.cell.messages)
        return None

    @property
    def relative_error(self) -> float:
        """The relative error for this run."""
        return self.time.relative_error

    @property
    def is_range(self) -> bool:
        """True if its ends are the smallest and the largest of a few launches, not an interval."""
        return self.kind == "range"

    @property
    def error_words(self) -> str:
        """The error as ±2.1 %, or the range of a few launches as -1.2…+3.4 %."""
        return self.error_text(self.time)

    def error_text(self, estimate: Estimate) -> str:
        """The error of another quantity of this row, such as its bandwidth, as text."""
        return error_words(estimate, self.kind)

    @property
    def machine_error(self) -> float:
        """The relative error for this machine; NaN: its scatter is unknown."""
        return self.machine_time.relative_error


def error_words(estimate: Estimate, kind: str) -> str:
    """The error as ±2.1 %, or a range as -1.2…+3.4 %."""
    value, low, high = estimate
    if kind == "range" and value:
        return from_to(low / value - 1, high / value - 1)
    return plus_minus(estimate.relative_error)


def _ratio(above: float, below: float) -> float:
    if below:
        return above / below
    return math.nan
