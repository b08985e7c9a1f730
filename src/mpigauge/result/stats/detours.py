# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Analyses the detours of a core: their lengths, a clock as their cause, and their effect on work
shared by many cores."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.model.detours import Detours, Stretch

TICKS_HZ = (100.0, 250.0, 300.0, 1000.0)
"""The timer frequencies that Linux can be built with (CONFIG_HZ)."""
BOUNDS_S = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, math.inf)
"""The bounds of the classes of lengths, in seconds."""
_LEAST_HEARD = 0.5
_WINDOW = 0.05
"""A detour within so much of a period from the middle one belongs to the tick."""
_LONGEST_S = 1e-3
"""The longest work of the tick itself; after a longer one the kernel had given the core away."""


@dataclass(frozen=True)
class Class:
    """Detours of about the same length."""

    least_s: float
    most_s: float
    per_second: float
    lost_ratio: float


@dataclass(frozen=True)
class Tick:
    """The kernel's timer, as it appears in the detours."""

    hz: float
    length_s: float
    """The median of its detours; NaN where others always took the core when it came."""
    heard_ratio: float
    """The share of its periods in which it was seen alone; it may hide in longer detours."""
    lost_ratio: float
    """The share of the core's time that it takes."""


def classes(core: Detours) -> tuple[Class, ...]:
    """Returns the rate of detours of each length class, and the share of the core they take."""
    lengths, kept_s = core.lengths_s, _kept_s(core)
    result = []
    for least, most in pairwise(BOUNDS_S):
        within = [length for length in lengths if least <= length < most]
        if within:
            result.append(Class(least, most, len(within) / kept_s, sum(within) / kept_s))
    return tuple(result)


def tick(core: Detours) -> Tick | None:
    """Returns the timer that causes some of the detours; None: no known frequency stands out.

    Of n starts t the length of the mean vector, R = |Σ exp(2πi f t)| / n, is near 1 where they
    follow a clock of frequency f; where they do not, n R² is distributed as an exponential of mean
    1 (Lord Rayleigh's test; K. Mardia, P. Jupp, Directional Statistics, 2000, section 6.3). It is
    summed over stretches, whose phases differ. Detours are not independent, as other programs begin
    and end in bursts; so the frequency has to stand out far more than by chance, and in most of its
    periods in which the core was free there must be one. All multiples of the clock's own are alike
    in R: the lowest is taken.
    """
    stretches = [each for each in core.stretches if len(each.starts_s) > 2]
    least = len(stretches) + 5 * math.sqrt(len(stretches)) + 12
    for hz in TICKS_HZ:
        if _power(stretches, hz) > least:
            candidate = _tick(stretches, hz)
            if candidate.heard_ratio > _LEAST_HEARD * (1 - core.lost_ratio):
                return candidate
    return None


def slowdown(work_s: float, cores: Sequence[Detours], many: int) -> float:
    """The expected time of `work_s` of work that `many` cores like these do together, each waiting
    for the slowest, by the time without detours.

    With n(d) detours longer than d in a second of free time of a core, in the mean over `cores`,
    the longest detour that begins in t on any of N cores is at most d with the probability
    exp(-N t n(d)), as in `model.detours.hit_ratio`, and its mean is the integral over d of one
    minus that. Several detours in the same work of a core add up; so the work never takes less than
    what the worst core loses in the mean. Cores are taken to be independent: where their ticks come
    at the same moment (skew_tick=0), many cores lose less than this.
    """
    longest = sorted(_exceeding(cores), reverse=True)
    delay, hazard = 0.0, 0.0
    for (length, rate), (shorter, _) in pairwise([*longest, (0.0, 0.0)]):
        hazard += rate / len(cores)
        delay += (length - shorter) * -math.expm1(-many * work_s * hazard)
    worst = max((core.lost_s / (core.seconds - core.lost_s) for core in cores), default=0.0)
    return 1 + max(delay / work_s, worst)


def _exceeding(cores: Iterable[Detours]) -> Iterable[tuple[float, float]]:
    """Each detour with what it adds to the rate in free time of its core, those that were not kept
    shared out over those that were."""
    for core in cores:
        kept = core.lengths_s
        for length in kept:
            yield length, core.per_free_second / len(kept)


def _kept_s(core: Detours) -> float:
    """Returns the time that the recorded detours span, in seconds."""
    if not core.count:
        return core.seconds
    return core.seconds * len(core.lengths_s) / core.count


def _power(stretches: Iterable[Stretch], hz: float) -> float:
    return sum(len(each.starts_s) * abs(_mean_vector(each, hz)) ** 2 for each in stretches)


def _mean_vector(stretch: Stretch, hz: float) -> complex:
    turns = (cmath.exp(2j * math.pi * hz * start) for start in stretch.starts_s)
    return sum(turns) / len(stretch.starts_s)


def _tick(stretches: Sequence[Stretch], hz: float) -> Tick:
    lengths: list[float] = []
    others, of_stretches = 0, []
    for each in stretches:
        on_time = _on_time(each, hz)
        lengths += on_time
        others += len(each.starts_s) - len(on_time)
        of_stretches.append(each.seconds * len(each.starts_s) / max(each.count, 1))
    by_chance = others * 2 * _WINDOW / (1 - 2 * _WINDOW)
    seconds = sum(of_stretches)
    return Tick(
        hz=hz,
        length_s=median(lengths) if lengths else math.nan,
        heard_ratio=min(max(len(lengths) - by_chance, 0.0) / (hz * seconds), 1.0),
        lost_ratio=sum(lengths) / seconds,
    )


def _on_time(stretch: Stretch, hz: float) -> list[float]:
    """Lengths of the detours that begin when the tick does."""
    phase = cmath.phase(_mean_vector(stretch, hz)) / (2 * math.pi)
    lengths = []
    for start, length in zip(stretch.starts_s, stretch.lengths_s, strict=True):
        off = (start * hz - phase + 0.5) % 1.0 - 0.5
        if abs(off) <= _WINDOW and length < _LONGEST_S:
            lengths.append(length)
    return lengths
