# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""POP's efficiencies of a program and of its regions.

    parallel efficiency      = load balance × communication efficiency
    load balance             = mean computation / longest computation
    communication efficiency = longest computation / run time = serialisation × transfer
    serialisation            = longest computation / run time on an ideal network
    transfer                 = run time on an ideal network / run time

Computation is the time outside MPI of a rank, the run time that of the slowest rank. POP replays a
trace to get the run time on an ideal network. It is estimated here: the longest time of a rank
without the time in which it moves data. docs/explain/profile.md has the sources.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.products.profile.analyse.account import is_within
from mpigauge.products.profile.analyse.entries import TimeWithInterval
from mpigauge.products.profile.analyse.over_launches import OverLaunches

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.analyse.entries import Numbers

MOST_LEFT_OUT = 0.1
"""The share of the time in MPI in calls that could not be split, above which serialisation and
transfer are unknown."""
WHOLE = ""
"""The region that is the whole program."""
UNKNOWN = TimeWithInterval(math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Efficiencies:
    """The efficiencies of one launch; each is 1 at best."""

    region: str
    """The path of the region; empty: the whole program."""
    entered: int
    """The number of entries of a rank in the mean; 1 for the whole program."""
    run_s: float
    """The time of the slowest rank, in seconds."""
    computing_s: float
    """The time outside MPI of all ranks together."""
    computing_by_rank: Numbers
    """The time outside MPI of each rank."""
    mpi_s: float
    """The time in MPI of all ranks together."""
    calls: int
    """The number of MPI calls of all ranks."""
    parallel: float
    load_balance: float
    communication: float
    serialisation: TimeWithInterval
    """The serialisation efficiency with its 95 % interval; NaN: unknown."""
    transfer: TimeWithInterval
    left_out: float
    """The share of the time in MPI in calls that could not be split."""

    @property
    def is_split(self) -> bool:
        """True if serialisation and transfer are known."""
        return math.isfinite(self.transfer.value)


def efficiencies_of(account: Account, region: str = WHOLE) -> Efficiencies:
    """Returns the efficiencies of the whole program or of one of its regions."""
    ranks = len(account.ranks)
    if region:
        elapsed_s, mpi_s, entered = _of_region(account, region)
    else:
        elapsed_s, mpi_s, entered = account.run_s, account.mpi_s, 1
    computing_s = np.clip(elapsed_s - mpi_s, 0.0, None)
    run_s, longest_s = float(elapsed_s.max()), float(computing_s.max())
    rows = _waits_within(account, region)
    split_s = float(_split_s(rows, ranks).sum())
    whole_s = float(mpi_s.sum())
    left_out = max(1.0 - split_s / whole_s, 0.0) if whole_s > 0 else 0.0
    serialisation = transfer = UNKNOWN
    if left_out <= MOST_LEFT_OUT and run_s > 0 and longest_s > 0:
        ideal_s = _ideal_s(elapsed_s, mpi_s, computing_s, rows)
        transfer = ideal_s.over(run_s)
        serialisation = TimeWithInterval(
            longest_s / ideal_s.value, longest_s / ideal_s.high, longest_s / ideal_s.low
        )
    return Efficiencies(
        region=region,
        entered=entered,
        run_s=run_s,
        computing_s=float(computing_s.sum()),
        computing_by_rank=computing_s,
        mpi_s=whole_s,
        calls=sum(each.calls for each in account.inside if is_within(each.spot.region, region)),
        parallel=_share(float(computing_s.sum()), ranks * run_s),
        load_balance=_share(float(computing_s.sum()), ranks * longest_s),
        communication=_share(longest_s, run_s),
        serialisation=serialisation,
        transfer=transfer,
        left_out=left_out,
    )


def _of_region(account: Account, region: str) -> tuple[Numbers, Numbers, int]:
    """Returns the time of each rank in a region, the part of it in MPI, and its mean entries."""
    elapsed_s, entered = np.zeros(len(account.ranks)), 0
    for at, file in enumerate(account.ranks):
        for each in file.regions:
            if each.path == region:
                elapsed_s[at] += each.seconds
                entered += each.entered
    mpi_s = np.zeros(len(account.ranks))
    for called in account.inside:
        if is_within(called.spot.region, region):
            mpi_s += called.seconds
    return np.maximum(elapsed_s, mpi_s), mpi_s, round(entered / max(len(account.ranks), 1))


def _waits_within(account: Account, region: str) -> Any:
    rows = account.profile.waits
    if not region:
        return rows
    within = [is_within(spot.region, region) for spot in account.profile.spots]
    return rows[np.array(within, dtype=bool)[rows["site"]]]


def _ideal_s(
    elapsed_s: Numbers, mpi_s: Numbers, computing_s: Numbers, rows: Any
) -> TimeWithInterval:
    """Returns the run time on a network that moves data in no time: the longest of a rank without
    its moving. Calls that could not be split count as moving, at most as waiting."""
    split_s = _split_s(rows, len(elapsed_s))
    unsplit_s = np.clip(mpi_s - split_s, 0.0, None)
    ends = []
    for part, also_s in (("moving", unsplit_s), ("moving_high", unsplit_s), ("moving_low", 0.0)):
        moving_s = np.minimum(_by_rank(rows, f"{part}_s", len(elapsed_s)) + also_s, mpi_s)
        ideal_s = float(np.maximum(elapsed_s - moving_s, computing_s).max())
        ends.append(ideal_s)
    value, low, high = ends
    return TimeWithInterval(value, min(low, value), max(high, value))


def _split_s(rows: Any, ranks: int) -> Numbers:
    """Returns the time of each rank in calls that were split."""
    parts = [_by_rank(rows, f"{part}_s", ranks) for part in ("waiting", "moving", "disturbed")]
    return np.asarray(np.sum(parts, axis=0))


def _by_rank(rows: Any, column: str, ranks: int) -> Numbers:
    sums = np.zeros(ranks)
    np.add.at(sums, rows["rank"], rows[column])
    return sums


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan


# --- over launches --------------------------------------------------------------------------------
NAMES = ("parallel", "load_balance", "communication", "serialisation", "transfer")
LABELS = {
    "parallel": "parallel efficiency",
    "load_balance": "load balance",
    "communication": "communication efficiency",
    "serialisation": "serialisation",
    "transfer": "transfer",
}


@dataclass(frozen=True)
class EfficienciesOverLaunches:
    """The efficiencies of the program or of a region in all launches."""

    each: Sequence[Efficiencies]
    """The efficiencies by launch; the one in the middle first."""

    @property
    def first(self) -> Efficiencies:
        return self.each[0]

    def interval(self, name: str) -> TimeWithInterval:
        """Returns the median of an efficiency over launches with its interval, or below six
        launches their range; of one launch, the interval of the split. NaN: unknown."""
        values = [_with_interval(getattr(each, name)) for each in self.each]
        if len(values) == 1:
            return values[0]
        if not all(math.isfinite(each.value) for each in values):
            return UNKNOWN
        return TimeWithInterval(*OverLaunches([each.value for each in values]).estimate)


def _with_interval(value: float | TimeWithInterval) -> TimeWithInterval:
    if isinstance(value, TimeWithInterval):
        return value
    return TimeWithInterval(value, math.nan, math.nan)


def over_launches(accounts: Sequence[Account]) -> list[EfficienciesOverLaunches]:
    """Returns the efficiencies of the whole program, and of each region of the first launch that
    all launches have."""
    first, *others = accounts
    regions = [each.region for each in first.regions if each.seconds > 0]
    for other in others:
        theirs = {each.region for each in other.regions if each.seconds > 0}
        regions = [region for region in regions if region in theirs]
    made = []
    for region in (WHOLE, *regions):
        each = tuple(efficiencies_of(account, region) for account in accounts)
        made.append(EfficienciesOverLaunches(each))
    return made
