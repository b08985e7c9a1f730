# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""OS noise on a core, as measured by a loop that does nothing but read the clock."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain


@dataclass(frozen=True)
class Stretch:
    """A sampling period during which the clock did not change, in seconds from its first
    reading."""

    seconds: float
    starts_s: tuple[float, ...]
    lengths_s: tuple[float, ...]
    """Lengths of the same detours: all, or the first thousands of them."""
    count: int
    """The number of all detours."""
    lost_s: float
    longest_s: float


@dataclass(frozen=True)
class Detours:
    """All detours measured on one core."""

    stretches: tuple[Stretch, ...]

    @property
    def seconds(self) -> float:
        return sum(each.seconds for each in self.stretches)

    @property
    def count(self) -> int:
        return sum(each.count for each in self.stretches)

    @property
    def lost_s(self) -> float:
        return sum(each.lost_s for each in self.stretches)

    @property
    def lost_ratio(self) -> float:
        """The share of the time in which the core was taken by others."""
        return _quotient(self.lost_s, self.seconds)

    @property
    def per_second(self) -> float:
        return _quotient(self.count, self.seconds)

    @property
    def longest_s(self) -> float:
        return max((each.longest_s for each in self.stretches), default=0.0)

    @property
    def lengths_s(self) -> tuple[float, ...]:
        return tuple(chain.from_iterable(each.lengths_s for each in self.stretches))

    @property
    def per_free_second(self) -> float:
        """Detours per second in which the core was not taken: the hazard for a computation."""
        return _quotient(self.count, self.seconds - self.lost_s)


def _quotient(part: float, seconds: float) -> float:
    """The quotient; NaN for an empty time."""
    if seconds > 0:
        return part / seconds
    return math.nan


def hit_ratio(work_s: float, per_second: Iterable[float]) -> float:
    """The probability that a detour starts during `work_s` seconds of work on any of these cores.

    1 - exp(-t Σ λ): detours as a Poisson process on each core, cores independent of each other; for
    small λt it is 1 - (1 - λt)^N, as in D. Tsafrir, Y. Etsion, D. Feitelson, S. Kirkpatrick, System
    noise, OS clock ticks, and fine-grained parallel applications (ICS 2005).
    """
    return -math.expm1(-work_s * sum(per_second))


def undisturbed_s(share: float, per_second: Iterable[float]) -> float:
    """The longest computation that meets no detour with this probability: inverse of
    `hit_ratio`."""
    hazard = sum(per_second)
    if hazard > 0:
        return -math.log(share) / hazard
    return math.inf
