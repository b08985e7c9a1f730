# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The entries of the tables of a profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.match.merge import OUTSIDE, Spot
from mpigauge.products.profile.read.layout import Counted

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Called:
    """A call at one place of the program, on all ranks."""

    number: int
    """The number of the call site, from 1, ordered by time, longest first."""
    spot: Spot
    where: str
    """The place in words, such as norm at solve.c:88, with a caller if that is ambiguous; empty:
    unknown."""
    calls: int
    seconds: Numbers
    """The time in the calls of each rank."""
    calls_of: npt.NDArray[np.int64]
    """The number of calls of each rank."""
    least_s: float
    median_s: float
    """The median over ranks of their median call times."""
    late_s: float
    """The 99th percentile of call times on the rank where it is largest."""
    most_s: float
    sent: int
    """The bytes sent by all ranks."""
    failures: int
    in_calls_s: float
    """The time of all calls of all ranks and threads, in seconds."""

    @property
    def mean_call_s(self) -> float:
        """The mean time of a call, in seconds."""
        return self.in_calls_s / self.calls if self.calls else math.nan

    @property
    def total_s(self) -> float:
        return float(self.seconds.sum())

    @property
    def mean_s(self) -> float:
        """The time of a rank in these calls, in seconds, in the mean of all ranks."""
        return float(self.seconds.mean())

    @property
    def outside(self) -> bool:
        """True if the call begins or ends the run time, so that it is not part of it."""
        return self.spot.call in OUTSIDE

    @property
    def uneven(self) -> float:
        """The relative excess of the longest time of a rank over the mean of all."""
        return float(ratio(self.seconds.max(), self.seconds.mean())) - 1


@dataclass(frozen=True)
class Sizes:
    """The messages of a call with sizes between a power of two and the next."""

    call: str
    way: Counted
    bin: int
    count: int
    bytes: int
    least: int
    """The smallest message, in bytes."""
    most: int
    """The largest message, in bytes."""

    @property
    def mean(self) -> float:
        if self.count:
            return self.bytes / self.count
        return math.nan


@dataclass(frozen=True)
class InRegion:
    """A named region of the program, on all ranks."""

    region: str
    entered: int
    """The number of entries by all ranks."""
    seconds: float
    """The time of all ranks in the region."""
    mpi_s: float
    """The part of that time in MPI."""


@dataclass(frozen=True)
class TimeWithInterval:
    """A time with its 95 % interval, in seconds."""

    value: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """True if the interval is no wider than the value."""
        return self.high - self.low <= self.value

    def overlaps(self, other: TimeWithInterval) -> bool:
        """Returns True if the intervals have a value in common."""
        return self.low <= other.high and other.low <= self.high

    def over(self, number: float) -> TimeWithInterval:
        """Returns the time divided by a number."""
        return TimeWithInterval(self.value / number, self.low / number, self.high / number)


@dataclass(frozen=True)
class Waited:
    """The time of a call site on all ranks, split into its parts."""

    called: Called
    waiting: TimeWithInterval
    moving: TimeWithInterval
    disturbed: TimeWithInterval
    rank: int
    """The index of the rank that waited most."""
    resolved: bool
    """True if the waiting of any rank could be resolved."""

    @property
    def is_collective(self) -> bool:
        """True for a collective; other calls wait for messages or requests."""
        return self.called.spot.group == "collective"

    @property
    def is_told(self) -> bool:
        """True if ranks wait, and the waiting time is known well enough."""
        return self.resolved and self.waiting.is_sure

    @property
    def moving_s(self) -> float:
        return self.moving.value

    @property
    def disturbed_s(self) -> float:
        return self.disturbed.value

    @property
    def whole_s(self) -> float:
        return self.waiting.value + self.moving_s + self.disturbed_s


@dataclass(frozen=True)
class Pair:
    """The messages from one rank of MPI_COMM_WORLD to another."""

    source: int
    target: int
    messages: int
    bytes: int
    seconds: float
    """The time of the source in calls that send to the target or receive from it; that of a call
    site with several peers is divided by messages."""


@dataclass(frozen=True)
class OnComm:
    """The traffic on a communicator, on all ranks."""

    name: str
    size: int
    maker: str
    calls: int
    """The messages, or calls of collectives."""
    bytes: int
    seconds: float
    """The time of a rank in the mean; that of a call site is divided by calls and messages."""


def sum_of(rows: Any, part: str) -> TimeWithInterval:
    """Returns the sum over ranks, with independent errors."""
    value = float(rows[f"{part}_s"].sum())
    below = float(np.hypot.reduce(rows[f"{part}_s"] - rows[f"{part}_low_s"]))
    above = float(np.hypot.reduce(rows[f"{part}_high_s"] - rows[f"{part}_s"]))
    return TimeWithInterval(value, max(value - below, 0.0), value + above)


def ratio(part: Any, whole: Any) -> Any:
    """Returns quotients; nan where `whole` is not positive."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(whole) > 0, np.asarray(part) / whole, math.nan)
