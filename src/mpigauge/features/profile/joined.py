# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A profile beside what its machine does with the same calls: waiting; moving, as the machine can
do it; moving above that. And what the program would save at most.

Times are of a rank, in the mean of all.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.features.profile.account import TimeWithInterval
from mpigauge.features.profile.needs import Need, Use

if TYPE_CHECKING:
    from mpigauge.features.profile.account import Account, Called
    from mpigauge.model.row import Row


@dataclass(frozen=True)
class JoinedSite:
    called: Called
    waiting: TimeWithInterval | None
    """None: it could not be split."""
    machine: TimeWithInterval | None
    """Moving, as the machine can do it; None: nothing of it was measured."""
    above: TimeWithInterval | None
    """Moving above that; of what could not be split all that takes longer."""
    part: float
    """Of the calls' time that the measurements speak for."""


@dataclass(frozen=True)
class Joined:
    sites: tuple[JoinedSite, ...]
    """Those of which something was measured or split, the one that takes longest first."""
    network: float
    """What a perfect network would save at most, as a share of the run time..."""
    balance: float
    """...a perfect balance..."""
    setting: float
    """...and the best known setting; NaN: no other is known."""


class MachineFigures:
    """What was measured of it."""

    def __init__(self, rows: Iterable[Row], pattern: str = "") -> None:
        """`pattern`: the arrivals of this profile, as the column `arrival` names them."""
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
        """The time of a call, in the mean of ranks: measured at this size, or between two sizes."""
        for curve in self._curves_of(need):
            found = _time_on(curve, need.message_bytes)
            if found is not None:
                return found
        return None

    def _curves_of(self, need: Need) -> list[Mapping[int, Row]]:
        """That of the same root before that of root 0."""
        typed = need.datatype, need.op
        keys = [(need.benchmark, need.ranks, *typed, root) for root in (need.root, 0)]
        return [self._curves[key] for key in keys if key in self._curves]

    def best(self, need: Need) -> float:
        """The time with the best known setting over that with the usual one, as a sweep measured
        them beside each other; NaN: there is none."""
        usual = self.time(need)
        typed = need.datatype, need.op
        key = (need.benchmark, need.ranks, *typed, need.root, need.message_bytes)
        arms = self._arms.get(key, [])
        if usual is None or not arms:
            return math.nan
        fastest = min(_time_of(row).value for row in arms)
        return min(fastest / usual.value, 1.0)


def _time_on(curve: Mapping[int, Row], message_bytes: int) -> TimeWithInterval | None:
    """At this size, or on the line between the sizes below and above."""
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
    """On a line through both where times and sizes are logarithms; 0 where one of them is 0."""
    if one <= 0 or other <= 0:
        return 0.0
    return math.exp((1 - part) * math.log(one) + part * math.log(other))


def _time_of(row: Row) -> TimeWithInterval:
    """In the mean of ranks, which profiles have, too; its error is that of the slowest's."""
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
    """Seconds of a rank, of what settings are known for; NaN: of none."""
    saved = []
    for use in uses:
        best, told = machine.best(use.need), machine.time(use.need)
        if told is not None and not math.isnan(best):
            saved.append(use.calls * told.value * (1 - best))
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
    """With so many calls more, of this time each."""
    return TimeWithInterval(
        to.value + calls * time.value, to.low + calls * time.low, to.high + calls * time.high
    )


def _split(
    account: Account, called: Called, ranks: int
) -> tuple[TimeWithInterval | None, TimeWithInterval | None]:
    """Waiting and moving of a rank, where they were told apart."""
    spots = account.profile.spots
    rows = account.profile.waits
    rows = rows[rows["site"] == spots.index(called.spot)]
    if not len(rows):
        return None, None
    return _told(rows, "waiting", ranks), _told(rows, "moving", ranks)


def _told(rows: Any, part: str, ranks: int) -> TimeWithInterval:
    """The mean of ranks, whose errors are their own."""
    value = float(rows[f"{part}_s"].sum())
    below = float(np.hypot.reduce(rows[f"{part}_s"] - rows[f"{part}_low_s"]))
    above = float(np.hypot.reduce(rows[f"{part}_high_s"] - rows[f"{part}_s"]))
    return TimeWithInterval(value / ranks, max(value - below, 0.0) / ranks, (value + above) / ranks)
