# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""POP's efficiencies over the iterations of a program, by its own repeated pattern.

The outermost collective that all ranks repeat divides the run: the one with fewest repetitions of
those that last over most of it. From one return of it to the next, each rank computes and is in
MPI, by the recorded calls or else by the 1000 steps of the profiler. Stretches of several such
iterations have the efficiencies of their sums; errors are by jackknife.
They differ if they range wider than those of the same iterations in random orders do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.analyse.account import share_between
from mpigauge.products.profile.analyse.efficiencies import MOST_LEFT_OUT
from mpigauge.products.profile.analyse.entries import TimeWithInterval
from mpigauge.products.profile.match.totals import RARE, SURE
from mpigauge.products.profile.match.waiting import without_rare

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.analyse.entries import Numbers

NEARLY_ALL = 0.95
"""The share of the time in MPI from which on recorded calls stand for all."""
LEAST_REPEATED = 8
"""The least number of repetitions of a pattern."""
LEAST_SPAN = 0.5
"""The least share of the run from the first to the last repetition."""
MOST_STRETCHES = 8
STEPS_EACH = 4
"""The least number of the profiler's steps in an iteration, if its time in MPI is of these."""
LEAST_OF_ERROR = 3
"""The least number of iterations in a stretch."""
LEAST_CHANGE = 0.05
"""The least difference between stretches that is shown."""
ORDERS = 500
Summed = Callable[["Numbers"], "Numbers"]
"""A function that sums times over iterations."""


@dataclass(frozen=True)
class Stretch:
    """Successive iterations, and their efficiencies with 95 % intervals."""

    begin_s: float
    end_s: float
    parallel: TimeWithInterval
    load_balance: TimeWithInterval
    communication: TimeWithInterval
    serialisation: TimeWithInterval
    """The serialisation efficiency; NaN: unknown."""
    transfer: TimeWithInterval


@dataclass(frozen=True)
class Times:
    """The times of iterations in seconds, by rank and iteration."""

    elapsed_s: Numbers
    computing_s: Numbers
    moving_s: Numbers
    """The time in MPI in which data move, at most all but waiting; NaN: unknown."""
    unsplit_s: Numbers
    """The part of that in calls that could not be split."""

    def __getitem__(self, iterations: slice | npt.NDArray[np.int_]) -> Times:
        parts = (self.elapsed_s, self.computing_s, self.moving_s, self.unsplit_s)
        return Times(*(each[:, iterations] for each in parts))

    def withhold_parts(self) -> Times:
        """Returns the times, without the moving if too many calls could not be split."""
        mpi_s = float((self.elapsed_s - self.computing_s).sum())
        if float(self.unsplit_s.sum()) <= MOST_LEFT_OUT * mpi_s:
            return self
        return replace(self, moving_s=np.full_like(self.moving_s, math.nan))

    def ratios(self, of: Summed, *, waits: bool = False) -> Numbers:
        """Returns the efficiencies in the order of efficiencies.NAMES, of sums over iterations.
        `waits`: calls that could not be split count as waiting, otherwise as moving."""
        elapsed_s, computing_s = of(self.elapsed_s), of(self.computing_s)
        moving_s = of(self.moving_s - self.unsplit_s) if waits else of(self.moving_s)
        run_s, longest_s = elapsed_s.max(axis=0), computing_s.max(axis=0)
        mean_s = computing_s.mean(axis=0)
        ideal_s = np.maximum(elapsed_s - moving_s, computing_s).max(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            both = mean_s / run_s, mean_s / longest_s, longest_s / run_s
            return np.array([*both, longest_s / ideal_s, ideal_s / run_s])


@dataclass(frozen=True)
class Iterations:
    """The iterations of a run, in stretches."""

    site: int
    """The spot of the collective that ends each iteration."""
    stretches: tuple[Stretch, ...]
    differ: bool
    """True if an efficiency differs between stretches by more than chance."""


def iterations_of(account: Account) -> Iterations | None:
    """Returns the iterations of a run. None: one rank, no repeated pattern, or too short for the
    steps of the profiler."""
    if len(account.ranks) < 2 or not any(file.timelines for file in account.ranks):
        return None
    pattern = _pattern(account)
    if pattern is None:
        return None
    site, ends_s = pattern
    if not is_recorded(account):
        ends_s = _thinned(ends_s, STEPS_EACH * _step_s(account))
    if ends_s.shape[1] <= LEAST_REPEATED:
        return None
    times = times_of(account, ends_s)
    iterations = times.elapsed_s.shape[1]
    count = min(MOST_STRETCHES, iterations // LEAST_OF_ERROR)
    edges = np.linspace(0, iterations, count + 1).astype(int)
    ends = ends_s.max(axis=0)
    stretches = tuple(
        _stretch(float(ends[a]), float(ends[b]), times[a:b].withhold_parts())
        for a, b in pairwise(edges)
    )
    return Iterations(site, stretches, _differ(times.withhold_parts(), edges[:-1]))


def is_recorded(account: Account) -> bool:
    """True if recorded calls have nearly all time in MPI."""
    recorded_s = float(account.profile.timeline.calls["took_s"].sum())
    return recorded_s >= NEARLY_ALL * float(account.mpi_s.sum()) > 0


# --- the pattern ----------------------------------------------------------------------------------
def _pattern(account: Account) -> tuple[int, Numbers] | None:
    """Returns the collective that ends each iteration, and the moments at which ranks left it, by
    rank."""
    run_s = max(file.run_s for file in account.ranks)
    candidates = []
    for site, ends_s in _repeated(account):
        if float((ends_s[:, -1] - ends_s[:, 0]).min()) >= LEAST_SPAN * run_s > 0:
            candidates.append((ends_s.shape[1], site, ends_s))
    if not candidates:
        return None
    _, site, ends_s = min(candidates, key=lambda each: each[:2])
    return site, ends_s


def _repeated(account: Account) -> Iterator[tuple[int, Numbers]]:
    """Yields collectives that all ranks repeat equally often, with the ends of their calls."""
    calls = account.profile.timeline.calls
    ranks = len(account.ranks)
    for site, spot in enumerate(account.profile.spots):
        if spot.group != "collective":
            continue
        own = calls[calls["site"] == site]
        counts = np.bincount(own["rank"], minlength=ranks)
        if len(counts) > ranks or counts.min() <= LEAST_REPEATED or np.ptp(counts):
            continue
        own = own[np.argsort(own["rank"], kind="stable")]
        ends_s = own["entered_s"] + own["took_s"].astype(np.float64)
        yield site, np.sort(ends_s.reshape(ranks, -1), axis=1)


def _thinned(ends_s: Numbers, least_s: float) -> Numbers:
    """Returns the moments that are as far apart from each other."""
    kept = [0]
    for at, end_s in enumerate(ends_s.max(axis=0)):
        if end_s - ends_s[:, kept[-1]].max() >= least_s:
            kept.append(at)
    return ends_s[:, kept]


def _step_s(account: Account) -> float:
    return max(line.step_s for file in account.ranks for line in file.timelines)


# --- the time in MPI ------------------------------------------------------------------------------
def times_of(account: Account, ends_s: Numbers) -> Times:
    """Returns the times of the iterations between these moments, by rank."""
    elapsed_s = np.diff(ends_s, axis=1)
    in_mpi_s = np.array([_in_mpi(account, rank, ends) for rank, ends in enumerate(ends_s)])
    in_mpi_s = np.clip(in_mpi_s, 0.0, elapsed_s)
    moving_s, split_s = _moving(account, ends_s) if is_recorded(account) else np.zeros((2, 1, 1))
    unsplit_s = np.clip(in_mpi_s - split_s, 0.0, None)
    moving_s = np.minimum(moving_s + unsplit_s, in_mpi_s)
    return Times(elapsed_s, elapsed_s - in_mpi_s, moving_s, unsplit_s)


def _moving(account: Account, ends_s: Numbers) -> Numbers:
    """Returns the time in which recorded calls that were split move data, and all their time, by
    rank and iteration."""
    calls, waits = account.profile.timeline.calls, account.profile.waits
    sums = np.zeros((2, len(ends_s), ends_s.shape[1] - 1))
    ranks = len(account.ranks)
    places = calls["site"].astype(np.int64) * ranks + calls["rank"]
    order = np.argsort(places, kind="stable")
    for wait in waits:
        place = int(wait["site"]) * ranks + int(wait["rank"])
        begin, end = np.searchsorted(places[order], (place, place + 1))
        own = calls[order[begin:end]]
        if len(own) > wait["kept"]:  # the others have no waiting, as they could not be split
            own = own[own["waiting_s"] > 0]
        if not len(own):
            continue
        took_s = own["took_s"].astype(np.float64)
        moving_s, _ = without_rare(took_s - own["waiting_s"], float(wait["usual_s"]))
        moments = own["entered_s"] + took_s / 2
        at = np.searchsorted(ends_s[wait["rank"]], moments) - 1
        inside = (at >= 0) & (at < sums.shape[2])
        for part, seconds in enumerate((moving_s, took_s)):
            np.add.at(sums[part, wait["rank"]], at[inside], seconds[inside])
    return sums


def _in_mpi(account: Account, rank: int, ends_s: Numbers) -> Numbers:
    """Returns the seconds in MPI of a rank between these moments."""
    if is_recorded(account):
        calls = account.profile.timeline.calls
        own = calls[calls["rank"] == rank]
        shares = covered(own["entered_s"], own["took_s"], ends_s)
    else:
        begins_s = account.profile.timeline.begins_s
        offset_s = float(begins_s[rank]) if len(begins_s) else 0.0
        shares = share_between(account.ranks[rank], ends_s - offset_s)
    return np.asarray(shares * np.diff(ends_s))


def covered(entered: Numbers, took: Numbers, edges: Numbers) -> Numbers:
    """Returns the share of time within intervals, which do not overlap, between edges."""
    if not len(entered):
        return np.zeros(len(edges) - 1)
    ends = entered + took
    moments = np.stack([entered, ends], axis=1).ravel()
    sums = np.concatenate([[0.0], np.cumsum(took.astype(float))])
    until = np.stack([sums[:-1], sums[1:]], axis=1).ravel()
    order = np.argsort(moments, kind="stable")
    at_edges = np.interp(edges, moments[order], until[order])
    return np.asarray(np.clip(np.diff(at_edges) / np.diff(edges), 0.0, 1.0))


# --- the efficiencies -----------------------------------------------------------------------------
def _stretch(begin_s: float, end_s: float, times: Times) -> Stretch:
    whole, other = (times.ratios(_whole, waits=waits) for waits in (False, True))
    errors = _errors(times)
    ratios = (
        TimeWithInterval(float(value), float(low), float(high))
        for value, low, high in zip(
            whole,
            np.minimum(whole, other) - errors,
            np.maximum(whole, other) + errors,
            strict=True,
        )
    )
    return Stretch(begin_s, end_s, *ratios)


def _whole(times_s: Numbers) -> Numbers:
    return np.asarray(times_s.sum(axis=1))


def _without_each(times_s: Numbers) -> Numbers:
    """Returns sums over all iterations but one, for each."""
    return np.asarray(times_s.sum(axis=1, keepdims=True) - times_s)


def _errors(times: Times) -> Numbers:
    """Returns the half-widths of the intervals, from the efficiencies without one iteration each
    (jackknife)."""
    count = times.elapsed_s.shape[1]
    without = times.ratios(_without_each)
    return np.asarray(SURE * (count - 1) / math.sqrt(count) * without.std(axis=1))


def _differ(times: Times, starts: npt.NDArray[np.int_]) -> bool:
    """True if an efficiency ranges wider over stretches than in nearly all random orders of their
    iterations (a permutation test)."""
    ranges = _ranges(times, starts)
    random = np.random.default_rng(0)
    orders = (random.permutation(times.elapsed_s.shape[1]) for _ in range(ORDERS))
    by_chance = np.array([_ranges(times[order], starts) for order in orders])
    rare = (by_chance >= ranges).mean(axis=0) <= RARE / np.isfinite(ranges).sum()
    return bool((rare & (ranges >= LEAST_CHANGE)).any())


def _ranges(times: Times, starts: npt.NDArray[np.int_]) -> Numbers:
    """Returns the range of each efficiency over stretches; NaN: unknown."""

    def summed(times_s: Numbers) -> Numbers:
        return np.asarray(np.add.reduceat(times_s, starts, axis=1))

    return np.asarray(np.ptp(times.ratios(summed), axis=1))
