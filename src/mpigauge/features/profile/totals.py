# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""From the calls that were kept to all calls of a call site on a rank: its time in parts.

How long calls took is known of all of them, by bins of time, and of the kept ones also in which
parts. Calls that took alike are taken for alike (a stratified estimate: Cochran, Sampling
Techniques, chapters 5A and 6): so it does not matter whether one of the few long calls happens to
have been kept. Where only the time of several call sites together is known, parts of the kept
calls are those of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mpigauge.features.profile.files import Site, bin_edges

Times = npt.NDArray[np.float64]

STEP_S = 0.5e-6
"""How far apart ranks of one host leave a call that ends for all at once, and come to the next."""
SURE = 1.96
"""Standard deviations of an interval of 95 %."""
LEAST_KEPT = 8
"""Kept calls of a stratum."""
RARE = 0.05
WAITING, MOVING, DISTURBED = range(3)


@dataclass(frozen=True)
class Sample:
    """Kept calls of one kind on one rank."""

    parts: Times
    """Seconds of waiting, moving and disturbance by call; zeros in those of other call sites."""
    took: Times
    """Seconds of each call."""
    here: npt.NDArray[np.bool_]
    """Which are of this call site."""
    weight: Times
    """For how many calls each stands."""
    calls: float
    """Of the kind, kept or not."""
    seconds: float
    """Of all calls of the kind."""
    usual_s: float
    """The median of the operation alone."""
    rare_s: float
    """A call that took longer was disturbed."""


@dataclass(frozen=True)
class AllCalls:
    """Calls of one call site on one rank, kept or not."""

    calls: int
    seconds: float
    edges_s: Times
    counts: Times
    """Calls by bins of time."""
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
        """What a call of each bin took; exactly, where it is the longest one alone."""
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
    """Of intervals of 95 %."""
    high: Times


def by_time(samples: Sequence[Sample], whole: AllCalls) -> Total:
    """Of a call site of which it is known how long all calls took."""
    parts = np.concatenate([each.parts[each.here] for each in samples])
    took = np.concatenate([each.took[each.here] for each in samples])
    weight = np.concatenate([each.weight[each.here] for each in samples])
    middle, rare_s = whole.middle_s, max(each.rare_s for each in samples)

    long = middle > rare_s
    long_calls = float(whole.counts[long].sum())
    long_s = float((whole.counts * middle)[long].sum())
    total = long_calls * np.median(parts, axis=0)
    total[DISTURBED] = max(long_s - total[WAITING] - total[MOVING], 0.0)

    usual = took <= rare_s
    parts, took, weight = parts[usual], took[usual], weight[usual]
    bins = np.searchsorted(whole.edges_s, took, side="right") - 1
    counts = np.where(long, 0.0, whole.counts)
    stratum = _strata(np.bincount(bins, minlength=len(counts)), counts)
    strata = int(stratum.max()) + 1
    seconds = _sums(counts * middle, stratum, strata)
    seconds = seconds * max(whole.seconds - float(total.sum()), 0.0) / (seconds.sum() or 1.0)
    calls = _sums(counts, stratum, strata)
    own, variance = _shares(parts, took, weight, stratum[bins], seconds, calls)
    total += own

    wider = SURE * np.sqrt(variance) + STEP_S * whole.calls
    wider += _unlike(took[stratum[bins] == 0], np.where(stratum == 0, counts, 0.0), middle)
    low = np.clip(total - wider, 0, None)
    return Total(whole.calls, whole.seconds, total, low, total + wider)


def _strata(kept: npt.NDArray[np.int64], counts: Times) -> npt.NDArray[np.int64]:
    """The stratum of each bin, from the longest times down: as many bins as hold some kept calls,
    and few that are like them."""
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


def _unlike(took: Times, counts: Times, middle: Times) -> float:
    """Seconds by which the few longest calls may be others than the kept ones of them: those that
    were not kept may have waited for all that they took more than usual, or for nothing of it.
    `counts`: of them, by bins."""
    usual = float(np.median(took)) if len(took) else 0.0
    over = float((counts * np.clip(middle - usual, 0, None)).sum())
    kept = float(np.clip(took - usual, 0, None).sum())
    return max(over - kept, 0.0)


def _shares(
    parts: Times,
    took: Times,
    weight: Times,
    stratum: npt.NDArray[np.int64],
    seconds: Times,
    calls: Times,
) -> tuple[Times, Times]:
    """The seconds of all strata in parts as the kept calls of each have them, with variances.
    `seconds`, `calls`: of all calls by stratum."""
    strata = len(seconds)
    kept = _sums(np.ones(len(took)), stratum, strata)
    kept_s = _sums(took * weight, stratum, strata)
    factor = np.divide(seconds, kept_s, out=np.zeros(strata), where=kept_s > 0)
    left_out = np.clip(1 - kept / np.maximum(calls, 1), 0, None)
    spread = left_out * factor**2 * kept / np.maximum(kept - 1, 1)
    total, variance = np.zeros(3), np.zeros(3)
    for n in range(3):
        own = _sums(parts[:, n] * weight, stratum, strata)
        ratio = np.divide(own, kept_s, out=np.zeros(strata), where=kept_s > 0)
        beside = (weight * (parts[:, n] - ratio[stratum] * took)) ** 2
        total[n] = (own * factor).sum()
        variance[n] = (_sums(beside, stratum, strata) * spread).sum()
    return total, variance


def _sums(values: Times, stratum: npt.NDArray[np.int64], strata: int) -> Times:
    """Of each stratum."""
    return np.bincount(stratum, values, minlength=strata).astype(np.float64)


def shared_out(samples: Sequence[Sample]) -> Total:
    """Of a call site whose time is known together with that of others."""
    total, variance, by_chance = np.zeros(3), np.zeros(3), np.zeros(3)
    for each in samples:
        one = np.zeros(len(each.took), dtype=np.int64)
        whole = np.array([each.seconds]), np.array([float(each.calls)])
        own, spread = _shares(each.parts, each.took, each.weight, one, *whole)
        total += own
        variance += spread
        table = each.parts * each.weight[:, None]
        kept_s = float((each.took * each.weight).sum()) or 1.0
        by_chance += (_by_chance(table) / kept_s * each.seconds) ** 2
    calls = sum(each.calls * float(each.here.mean()) for each in samples)
    wider = SURE * (np.sqrt(variance) + np.sqrt(by_chance)) + STEP_S * calls
    return Total(calls, float(total.sum()), total, np.clip(total - wider, 0, None), total + wider)


def _by_chance(table: Times) -> Times:
    """Of the sums of parts: by how much they would be others had there been more or fewer of the
    few long calls, of which there are as many as it happens. Rows of zeros are of other spots."""
    most = 2 * np.quantile(table[table.any(axis=1)], 1 - RARE, axis=0) if table.any() else 0.0
    return np.asarray(np.sqrt((np.clip(table - most, 0, None) ** 2).sum(axis=0)))
