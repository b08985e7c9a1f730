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
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mpigauge.products.profile.analyse.account import share_between
from mpigauge.products.profile.analyse.entries import TimeWithInterval
from mpigauge.products.profile.match.totals import RARE, SURE

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
NAMES = ("parallel", "load_balance", "communication")


@dataclass(frozen=True)
class Stretch:
    """Successive iterations, and their efficiencies with 95 % intervals."""

    begin_s: float
    end_s: float
    parallel: TimeWithInterval
    load_balance: TimeWithInterval
    communication: TimeWithInterval


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
    elapsed_s = np.diff(ends_s, axis=1)
    in_mpi_s = np.array([_in_mpi(account, rank, ends) for rank, ends in enumerate(ends_s)])
    computing_s = np.clip(elapsed_s - in_mpi_s, 0.0, None)
    count = min(MOST_STRETCHES, elapsed_s.shape[1] // LEAST_OF_ERROR)
    edges = np.linspace(0, elapsed_s.shape[1], count + 1).astype(int)
    ends = ends_s.max(axis=0)
    stretches = tuple(
        _stretch(float(ends[a]), float(ends[b]), elapsed_s[:, a:b], computing_s[:, a:b])
        for a, b in pairwise(edges)
    )
    return Iterations(site, stretches, _differ(elapsed_s, computing_s, edges[:-1]))


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
def _stretch(begin_s: float, end_s: float, elapsed_s: Numbers, computing_s: Numbers) -> Stretch:
    """Returns a stretch, from times by rank and iteration."""
    whole = _ratios(elapsed_s.sum(axis=1), computing_s.sum(axis=1))
    errors = _errors(elapsed_s, computing_s)
    ratios = (
        TimeWithInterval(float(value), float(value - error), float(value + error))
        for value, error in zip(whole, errors, strict=True)
    )
    return Stretch(begin_s, end_s, *ratios)


def _ratios(elapsed_s: Numbers, computing_s: Numbers) -> Numbers:
    """Returns the efficiencies in NAMES, from the times of ranks, which may have columns."""
    run_s, longest_s = elapsed_s.max(axis=0), computing_s.max(axis=0)
    mean_s = computing_s.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.array([mean_s / run_s, mean_s / longest_s, longest_s / run_s])


def _errors(elapsed_s: Numbers, computing_s: Numbers) -> Numbers:
    """Returns the half-widths of the intervals, from the efficiencies without one iteration each
    (jackknife)."""
    count = elapsed_s.shape[1]
    without = _ratios(
        elapsed_s.sum(axis=1, keepdims=True) - elapsed_s,
        computing_s.sum(axis=1, keepdims=True) - computing_s,
    )
    return np.asarray(SURE * (count - 1) / math.sqrt(count) * without.std(axis=1))


def _differ(elapsed_s: Numbers, computing_s: Numbers, starts: npt.NDArray[np.int_]) -> bool:
    """True if an efficiency ranges wider over stretches than in nearly all random orders of their
    iterations (a permutation test)."""
    ranges = _ranges(elapsed_s, computing_s, starts)
    random = np.random.default_rng(0)
    orders = (random.permutation(elapsed_s.shape[1]) for _ in range(ORDERS))
    by_chance = np.array([_ranges(elapsed_s[:, order], computing_s[:, order], starts)
                          for order in orders])  # fmt: skip
    rare = (by_chance >= ranges).mean(axis=0) <= RARE / len(NAMES)
    return bool((rare & (ranges >= LEAST_CHANGE)).any())


def _ranges(elapsed_s: Numbers, computing_s: Numbers, starts: npt.NDArray[np.int_]) -> Numbers:
    """Returns the range of each efficiency over stretches."""
    sums = (np.add.reduceat(each, starts, axis=1) for each in (elapsed_s, computing_s))
    return np.asarray(np.ptp(_ratios(*sums), axis=1))
