# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Times of single messages as functions of their size. What a path's table does not reach goes on
at the rate of its last size."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.products.predict.calibration import MessageTimes

Ends = tuple[float, float, float]
"""A time from the values of the calibration, from the quick ends of its intervals, and from the
slow ones."""


@dataclass(frozen=True)
class Table:
    """The times of a path as functions of the size."""

    sizes: tuple[int, ...]
    times: tuple[tuple[float, ...], ...]
    """A row each of values, quick and slow ends."""

    @classmethod
    def of(cls, path: MessageTimes) -> Table:
        rows = []
        for end in range(3):
            rows.append(tuple(t.value if math.isnan(t[end]) else t[end] for t in path.times))
        return cls(path.sizes, tuple(rows))

    @cached_property
    def _best(self) -> list[Ends]:
        """The best bytes per second of each size and all larger ones; infinite where these are
        empty messages."""
        best, reached = [], [0.0, 0.0, 0.0]
        for size, *times in reversed(list(zip(self.sizes, *self.times, strict=True))):
            rates = [size / time if time else 0.0 for time in times]
            reached = list(map(max, reached, rates))
            best.append(ends(rate or math.inf for rate in reached))
        return best[::-1]

    def rates(self, nbytes: float) -> Ends:
        """The best bytes per second that messages of this size or more reach."""
        return self._best[min(bisect_left(self.sizes, nbytes), len(self.sizes) - 1)]

    @cached_property
    def memo(self) -> dict[float, tuple[Ends, Ends, Ends]]:
        return {}

    def of_size(self, nbytes: float) -> tuple[Ends, Ends, Ends]:
        """t(n), α(n) and b."""
        if nbytes not in self.memo:
            rates = self.rates(nbytes)
            times = ends(map(self._time, self.times, (nbytes,) * 3, rates))
            fixed = ends(max(t - nbytes / b, 0.0) for t, b in zip(times, rates, strict=True))
            self.memo[nbytes] = times, fixed, rates
        return self.memo[nbytes]

    def _time(self, row: Sequence[float], nbytes: float, rate: float) -> float:
        at = bisect_right(self.sizes, nbytes) - 1
        if at < 0:
            return row[0]
        if at == len(self.sizes) - 1:
            return row[at] + (nbytes - self.sizes[at]) / rate
        part = (nbytes - self.sizes[at]) / (self.sizes[at + 1] - self.sizes[at])
        return row[at] + part * (row[at + 1] - row[at])


def ends(values: Iterable[float]) -> Ends:
    value, quick, slow = values
    return value, quick, slow


def over(nbytes: float, rates: Ends) -> Ends:
    return nbytes / rates[0], nbytes / rates[1], nbytes / rates[2]


def together(one: Ends, other: Ends) -> Ends:
    return one[0] + other[0], one[1] + other[1], one[2] + other[2]
