# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Joins a profile with measurements of its machine: splits each call site into waiting, the
machine's time for moving, and moving above that. Also computes the largest possible savings.

Times are in the mean of ranks.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.products.profile.analyse.entries import TimeWithInterval, sum_of
from mpigauge.products.profile.beside.needs import Need, Use

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.analyse.entries import Called


@dataclass(frozen=True)
class JoinedSite:
    called: Called
    waiting: TimeWithInterval | None
    """The waiting time; None: it could not be separated."""
    machine: TimeWithInterval | None
    """The machine's time for the same calls; None: nothing of it was measured."""
    above: TimeWithInterval | None
    """The time of moving above that; without a split all time above that."""
    part: float
    """The share of the calls' time that is covered by measurements."""


@dataclass(frozen=True)
class Joined:
    sites: tuple[JoinedSite, ...]
    """The call sites that were measured or split, longest first."""
    network: float
    """The largest saving by a perfect network, as a share of the run time."""
    balance: float
    """The largest saving by a perfect balance, as a share of the run time."""
    setting: float
    """The saving by the best known setting, as a share of the run time; NaN: none known."""

    @property
    def measured(self) -> bool:
        """True if the machine's time for any of the calls is known."""
        return any(each.machine for each in self.sites)


class MachineFigures:
    """The measurements of a machine."""

    def __init__(self, rows: Iterable[Row], pattern: str = "") -> None:
        """Sorts the rows by call. `pattern`: the name of this profile's arrivals in `arrival`."""
        self._curves: dict[tuple[object, ...], dict[int, Row]] = defaultdict(dict)
        self._arms: dict[tuple[object, ...], list[Row]] = defaultdict(list)
        for row in rows:
            self._take(row, pattern)

    def _take(self, row: Row, pattern: str) -> None:
        cell = row.cell
        words = dict(word.split("=", 1) for word in cell.settings.split() if "=" in word)
        root = int(words.pop("root", 0))
        usual = not words and cell.cache == "hot" and cell.data == "static" and cell.groups == 1
        if not usual or cell.arrival not in ("", pattern):
            return
        typed = (cell.datatype, cell.op) if cell.op else ("", "")
        key = (row.benchmark, cell.ranks, *typed, root)
        if cell.arm:
            arms = (*key, cell.message_bytes)
            self._arms[arms].append(row)
        elif cell.arrival or cell.message_bytes not in self._curves[key]:
            self._curves[key][cell.message_bytes] = row

    def time(self, need: Need) -> TimeWithInterval | None:
        """Returns the time of a call in the mean of ranks, measured or interpolated by size."""
        for curve in self._curves_of(need):
            time_here = _time_on(curve, need.message_bytes)
            if time_here is not None:
                return time_here
        return None

    def _curves_of(self, need: Need) -> list[Mapping[int, Row]]:
        """Returns the curve of the same root, then that of root 0."""
        typed = need.datatype, need.op
        keys = [(need.benchmark, need.ranks, *typed, root) for root in (need.root, 0)]
        return [self._curves[key] for key in keys if key in self._curves]

    def best(self, need: Need) -> float:
        """Returns the ratio of the time with the best setting of a sweep to the usual one; NaN:
        nothing was swept."""
        usual = self.time(need)
        typed = need.datatype, need.op
        key = (need.benchmark, need.ranks, *typed, need.root, need.message_bytes)
        arms = self._arms.get(key, [])
        if usual is None or not arms:
            return math.nan
        fastest = min(_time_of(row).value for row in arms)
        return min(fastest / usual.value, 1.0)


def _time_on(curve: Mapping[int, Row], message_bytes: int) -> TimeWithInterval | None:
    """Returns the time at this size, or interpolates between the sizes below and above."""
    if message_bytes in curve:
        return _time_of(curve[message_bytes])
    below = max((size for size in curve if 0 < size < message_bytes), default=None)
    above = min((size for size in curve if size > message_bytes), default=None)
    if below is None or above is None:
        return None
    part = math.log(message_bytes / below) / math.log(above / below)
    small, large = _time_of(curve[below]), _time_of(curve[above])
    return TimeWithInterval(
        value=_between(small.value, large.value, part),
        low=_between(small.low, large.low, part),
        high=_between(small.high, large.high, part),
    )


def _between(one: float, other: float, part: float) -> float:
    """Interpolates between logarithms of times; 0 if one of them is 0."""
    if one <= 0 or other <= 0:
        return 0.0
    return math.exp((1 - part) * math.log(one) + part * math.log(other))


def _time_of(row: Row) -> TimeWithInterval:
    """Returns the time in the mean of ranks, as in profiles, with the relative error of a row."""
    cell = row.cell
    mean = cell.time_avg_s if cell.time_avg_s > 0 else cell.time_p50_s
    value = low = high = mean * cell.time_scale
    if math.isfinite(row.low_s):
        low = value * (row.low_s / cell.time_p50_s)
    if math.isfinite(row.high_s):
        high = value * (row.high_s / cell.time_p50_s)
    return TimeWithInterval(value, low, high)


def joined(account: Account, uses: Sequence[Use], machine: MachineFigures) -> Joined:
    by_site: dict[int, list[Use]] = defaultdict(list)
    for use in uses:
        by_site[use.called.number].append(use)
    sites = [_site(account, called, by_site[called.number], machine) for called in account.inside]
    kept = tuple(each for each in sites if each.waiting or each.machine)
    run_s = float(account.run_s.mean())
    if not run_s:
        return Joined(kept, network=math.nan, balance=math.nan, setting=math.nan)
    mpi_s = float(account.mpi_s.mean())
    waiting = split = 0.0
    for each in sites:
        if each.waiting:
            waiting += each.waiting.value
            split += each.called.mean_s
    disturbed = float(account.profile.waits["disturbed_s"].sum()) / max(len(account.ranks), 1)
    return Joined(
        sites=kept,
        network=max(mpi_s - waiting - disturbed, 0.0) / run_s,
        balance=(waiting + mpi_s - split) / run_s,
        setting=_saved(uses, machine) / run_s,
    )


def _saved(uses: Sequence[Use], machine: MachineFigures) -> float:
    """Returns the seconds of a rank that the best known settings save; NaN: none are known."""
    saved = []
    for use in uses:
        best, usual = machine.best(use.need), machine.time(use.need)
        if usual is not None and not math.isnan(best):
            saved.append(use.calls * usual.value * (1 - best))
    if saved:
        return sum(saved)
    return math.nan


def _site(
    account: Account, called: Called, uses: Sequence[Use], machine: MachineFigures
) -> JoinedSite:
    ranks = max(len(account.ranks), 1)
    waiting, moving = _split(account, called, ranks)
    able, known_s = None, 0.0
    for use in uses:
        time = machine.time(use.need)
        if time is not None:
            able = _added(able or TimeWithInterval(0.0, 0.0, 0.0), time, use.calls)
            known_s += use.seconds
    if able is None:
        return JoinedSite(called, waiting, None, None, 0.0)
    whole_s = sum(use.seconds for use in uses)
    part = known_s / whole_s if whole_s else 0.0
    moved = moving or TimeWithInterval(called.mean_s, called.mean_s, called.mean_s)
    above = TimeWithInterval(
        moved.value * part - able.value, moved.low * part - able.high, moved.high * part - able.low
    )
    return JoinedSite(called, waiting, able, above, part)


def _added(to: TimeWithInterval, time: TimeWithInterval, calls: float) -> TimeWithInterval:
    """Adds the time of further calls."""
    return TimeWithInterval(
        to.value + calls * time.value, to.low + calls * time.low, to.high + calls * time.high
    )


def _split(
    account: Account, called: Called, ranks: int
) -> tuple[TimeWithInterval | None, TimeWithInterval | None]:
    """Returns waiting and moving of a rank; None each: they were not separated."""
    spots = account.profile.spots
    rows = account.profile.waits
    rows = rows[rows["site"] == spots.index(called.spot)]
    if not len(rows):
        return None, None
    return sum_of(rows, "waiting").over(ranks), sum_of(rows, "moving").over(ranks)
