# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A row of the result: one cell over all launches, with its interval and what derives from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from mpigauge.model.cards import benchmark_word
from mpigauge.model.units import byte_count, from_to, plus_minus

if TYPE_CHECKING:
    from mpigauge.model.between import Scatter
    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Key

ErrorKind = Literal["interval", "range", "one launch"]
"""interval: 95 %, over six launches or more; range: smallest to largest of fewer launches;
one launch: the 95 % interval inside a launch, which does not know how launches differ."""


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
        """That distance by the value; NaN without an interval or a value."""
        if self.value:
            return self.error / abs(self.value)
        return math.nan

    def times(self, factor: float) -> Estimate:
        return Estimate(self.value * factor, self.low * factor, self.high * factor)

    def under(self, amount: float) -> Estimate:
        """amount / this: the slower end gives the smaller quotient."""
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
    """Why sampling ended, per launch."""
    numbers: tuple[int, ...] = ()
    """Of these launches."""
    scatter: Scatter | None = None
    """What earlier runs of its machine tell; None: nothing."""

    @property
    def key(self) -> Key:
        return self.cell.key

    @property
    def benchmark(self) -> str:
        """Its word: NAME, or SUITE:NAME outside MPI1."""
        return benchmark_word(self.cell.suite, self.cell.benchmark)

    @property
    def cell_name(self) -> str:
        """PingPong 1 MiB; without a size where it has no message."""
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
        """The reason that most launches stopped for."""
        if self.stops:
            return max(dict.fromkeys(self.stops), key=self.stops.count)
        return ""

    @property
    def time(self) -> Estimate:
        """The time of one call in seconds, not halved."""
        return Estimate(self.cell.time_p50_s, self.low_s, self.high_s)

    @property
    def machine_time(self) -> Estimate:
        """The time of one call with the ends of the interval for this machine: NaN where nothing is
        known."""
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
        """Bytes per second; None where a benchmark has none."""
        if self.cell.moved_bytes > 0:
            return self.latency.under(self.cell.moved_bytes)
        return None

    @property
    def rate(self) -> Estimate | None:
        """Messages per second; None where a benchmark has none."""
        if self.cell.messages > 0:
            return self.latency.under(self.cell.messages)
        return None

    @property
    def relative_error(self) -> float:
        """The relative error for this run."""
        return self.time.relative_error

    @property
    def is_range(self) -> bool:
        """Whether its ends are the smallest and the largest of a few launches: no interval."""
        return self.kind == "range"

    @property
    def error_words(self) -> str:
        """±2.1 %, or of a few launches where they lie: -1.2…+3.4 %."""
        return self.error_text(self.time)

    def error_text(self, estimate: Estimate) -> str:
        """The error of another quantity that this row has, such as its bandwidth, in words."""
        return error_words(estimate, self.kind)

    @property
    def machine_error(self) -> float:
        """The relative error for this machine; NaN where nothing is known."""
        return self.machine_time.relative_error


def error_words(estimate: Estimate, kind: str) -> str:
    """±2.1 %, or of a range where it lies: -1.2…+3.4 %."""
    value, low, high = estimate
    if kind == "range" and value:
        return from_to(low / value - 1, high / value - 1)
    return plus_minus(estimate.relative_error)


def _ratio(above: float, below: float) -> float:
    if below:
        return above / below
    return math.nan
