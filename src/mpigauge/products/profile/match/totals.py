# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Extrapolates from recorded calls to all calls of a call site on a rank: the parts of its time.

Call times are known for all calls, by bins of time, and their parts for recorded ones. Calls of
similar time are assumed to have similar parts (a stratified estimate: Cochran, Sampling Techniques,
chapters 5A and 6), so it does not matter whether one of the few long calls was recorded. If only
the time of several call sites together is known, all calls have the mean parts of recorded ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.read.rank_file import Site, bin_edges

Times = npt.NDArray[np.float64]

STEP_S = 0.5e-6
"""The time within which ranks of a host leave a call that ends for all at once, or enter the
next."""
CAME_S = 1e-6
"""The uncertainty of a rank's arrival at a call: after a wait caches are cold, also for the data
that the profiler needs before it reads the clock."""
SURE = 1.96
"""The half-width of a 95 % interval in standard deviations."""
LEAST_KEPT = 8
"""The least number of recorded calls in a stratum."""
RARE = 0.05
WAITING, MOVING, DISTURBED = range(3)


@dataclass(frozen=True)
class SampledCalls:
    """The recorded calls of one group on one rank."""

    parts: Times
    """The seconds of waiting, moving and disturbance by call; zero for other call sites."""
    took: Times
    """The seconds of each call."""
    here: npt.NDArray[np.bool_]
    """The mask of calls of this call site."""
    weight: Times
    """The number of calls that each represents."""
    calls: float
    """The number of all calls of the group, recorded or not."""
    seconds: float
    """The seconds of all calls of the group."""
    usual_s: float
    """The median of the operation alone."""
    rare_s: float
    """The time above which a call was disturbed."""


@dataclass(frozen=True)
class AllCalls:
    """All calls of one call site on one rank, recorded or not."""

    calls: int
    seconds: float
    edges_s: Times
    counts: Times
    """The number of calls by bins of time."""
    most_s: float

    @classmethod
    def of(cls, sites: Sequence[Site], hz: float) -> AllCalls:
        return cls(
            calls=sum(site.calls for site in sites),
            seconds=sum(site.seconds for site in sites),
            edges_s=bin_edges() / hz,
            counts=np.sum([site.times for site in sites], axis=0).astype(np.float64),
            most_s=max(site.most_s for site in sites),
        )

    @cached_property
    def middle_s(self) -> Times:
        """The time of a call in each bin; exact if the longest call is alone in its bin."""
        middle = (self.edges_s[:-1] + self.edges_s[1:]) / 2
        last = int(np.flatnonzero(self.counts)[-1])
        if self.counts[last] == 1:
            middle[last] = self.most_s
        return np.asarray(middle)


@dataclass(frozen=True)
class Total:
    """The time of a call site on a rank, in waiting, moving and disturbance."""

    calls: float
    seconds: float
    parts: Times
    low: Times
    """The lower ends of the 95 % intervals of parts."""
    high: Times


def by_time(samples: Sequence[SampledCalls], whole: AllCalls) -> Total:
    """Returns the parts of a call site whose call times are all known: recorded calls have their
    own parts, other calls those of recorded calls of similar time."""
    parts = np.concatenate([each.parts[each.here] for each in samples])
    took = np.concatenate([each.took[each.here] for each in samples])
    weight = np.concatenate([each.weight[each.here] for each in samples])
    bins = np.searchsorted(whole.edges_s, took, side="right") - 1
    middle = whole.middle_s
    others = np.clip(whole.counts - np.bincount(bins, minlength=len(middle)), 0, None)
    others_s = others * middle
    others_s *= max(whole.seconds - float(took.sum()), 0.0) / (others_s.sum() or 1.0)

    long = middle > max(each.rare_s for each in samples)
    usual = ~long[bins]
    if not usual.any():
        long, usual = np.ones_like(long), np.ones_like(usual)
    like = parts[~usual] if (~usual).sum() >= LEAST_KEPT else parts
    total, variance = _of_long(float(others[long].sum()), float(others_s[long].sum()), like)
    total += _of_kept(parts, took, whole.seconds - float(others_s.sum()))

    stratum = _strata(
        np.bincount(bins[usual], minlength=len(middle)), np.where(long, 0.0, whole.counts)
    )
    strata = int(stratum.max()) + 1
    seconds = _sums(np.where(long, 0.0, others_s), stratum, strata)
    calls = _sums(np.where(long, 0.0, others), stratum, strata)
    own, spread = _shares(
        parts[usual], took[usual], weight[usual], stratum[bins[usual]], seconds, calls
    )
    total += own

    wider = SURE * np.sqrt(variance + spread) + CAME_S * whole.calls
    longest = np.where((stratum == 0) & ~long, others, 0.0)
    wider += _unlike(took[usual & (stratum[bins] == 0)], longest, middle)
    low = np.clip(total - wider, 0, None)
    return Total(whole.calls, whole.seconds, total, low, total + wider)


def _of_kept(parts: Times, took: Times, seconds: float) -> Times:
    """Returns the parts of recorded calls, scaled to `seconds`. These differ from the sum of
    `took`: the profiler subtracts its overhead from all calls together, and single calls use the
    clock of the host, whose rate differs by some ppm from the rank's file."""
    return np.asarray(parts.sum(axis=0) * (seconds / (float(took.sum()) or 1.0)))


def _of_long(calls: float, seconds: float, like: Times) -> tuple[Times, Times]:
    """Returns the parts of disturbed calls that were not recorded, with variances: they wait and
    move like the mean of `like`, and the rest is disturbance."""
    total = calls * like.mean(axis=0)
    total *= min(1.0, seconds / ((total[WAITING] + total[MOVING]) or 1.0))
    total[DISTURBED] = seconds - total[WAITING] - total[MOVING]
    return total, calls * (1 + calls / len(like)) * like.var(axis=0)


def _strata(kept: npt.NDArray[np.int64], counts: Times) -> npt.NDArray[np.int64]:
    """Returns the stratum of each bin, from the longest times down; each stratum has as few bins as
    contain LEAST_KEPT recorded calls."""
    stratum = np.zeros(len(kept), dtype=np.int64)
    number = held = 0
    last = len(kept)
    for place in np.flatnonzero((kept > 0) | (counts > 0))[::-1]:
        stratum[place:last] = number
        last, held = place, held + int(kept[place])
        if held >= LEAST_KEPT:
            number, held = number + 1, 0
    if held < LEAST_KEPT and number > 0:
        stratum[stratum == number] = number - 1
        number -= 1
    stratum[:last] = number
    return stratum


def _unlike(took: Times, others: Times, middle: Times) -> float:
    """Returns the uncertainty in seconds of the longest calls that were not recorded: all or none
    of their excess over the median may be waiting. `took`: the times of recorded calls; `others`:
    the number of other calls, by bins."""
    usual = float(np.median(took)) if len(took) else 0.0
    return float((others * np.clip(middle - usual, 0, None)).sum())


def _shares(
    parts: Times,
    took: Times,
    weight: Times,
    stratum: npt.NDArray[np.int64],
    seconds: Times,
    calls: Times,
) -> tuple[Times, Times]:
    """Returns the parts of calls that were not recorded, in the proportions of recorded ones in
    their stratum, with variances. `seconds`, `calls`: of calls that were not recorded, by
    stratum."""
    strata = len(seconds)
    kept = _sums(np.ones(len(took)), stratum, strata)
    kept_s = _sums(took * weight, stratum, strata)
    factor = np.divide(seconds, kept_s, out=np.zeros(strata), where=kept_s > 0)
    all_to_others = np.divide(kept + calls, calls, out=np.zeros(strata), where=calls > 0)
    spread = all_to_others * factor**2 * kept / np.maximum(kept - 1, 1)
    total, variance = np.zeros(3), np.zeros(3)
    for n in range(3):
        own = _sums(parts[:, n] * weight, stratum, strata)
        ratio = np.divide(own, kept_s, out=np.zeros(strata), where=kept_s > 0)
        beside = (weight * (parts[:, n] - ratio[stratum] * took)) ** 2
        total[n] = (own * factor).sum()
        variance[n] = (_sums(beside, stratum, strata) * spread).sum()
    return total, variance


def _sums(values: Times, stratum: npt.NDArray[np.int64], strata: int) -> Times:
    """Returns the sums of values by stratum."""
    return np.bincount(stratum, values, minlength=strata).astype(np.float64)


def shared_out(samples: Sequence[SampledCalls]) -> Total:
    """Returns the parts of a call site whose time is only known together with others: recorded
    calls have their own parts, other calls the mean parts of recorded ones."""
    total, variance = np.zeros(3), np.zeros(3)
    for each in samples:
        own, spread = _of_others(each)
        kept_s = min(float(each.took.sum()), each.seconds)
        total += _of_kept(each.parts, each.took, kept_s) + own
        variance += spread
    calls = sum(each.calls * float(each.here.mean()) for each in samples)
    wider = SURE * np.sqrt(variance) + CAME_S * calls
    return Total(calls, float(total.sum()), total, np.clip(total - wider, 0, None), total + wider)


def _of_others(sample: SampledCalls) -> tuple[Times, Times]:
    """Returns the parts of calls that were not recorded, with variances."""
    others_s = max(sample.seconds - float(sample.took.sum()), 0.0)
    others = max(sample.calls - len(sample.took), 0.0)
    one = np.zeros(len(sample.took), dtype=np.int64)
    whole = np.array([others_s]), np.array([others])
    own, variance = _shares(sample.parts, sample.took, sample.weight, one, *whole)
    table = sample.parts * sample.weight[:, None]
    factor = others_s / (float((sample.took * sample.weight).sum()) or 1.0)
    return own, variance + factor * (1 + factor) * _by_chance(table) ** 2


def _by_chance(table: Times) -> Times:
    """Returns the uncertainty of the sums of parts by the random number of the few long calls. Rows
    of zeros belong to other spots."""
    most = 2 * np.quantile(table[table.any(axis=1)], 1 - RARE, axis=0) if table.any() else 0.0
    return np.asarray(np.sqrt((np.clip(table - most, 0, None) ** 2).sum(axis=0)))
