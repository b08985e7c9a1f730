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

from mpigauge.features.profile.account import Told
from mpigauge.features.profile.needs import Need, Use

if TYPE_CHECKING:
    from mpigauge.features.profile.account import Account, Called
    from mpigauge.model.row import Row


@dataclass(frozen=True)
class JoinedSite:
    called: Called
    waiting: Told | None
    """None: it could not be split."""
    machine: Told | None
    """Moving, as the machine can do it; None: nothing of it was measured."""
    above: Told | None
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


class Machine:
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

    def time(self, need: Need) -> Told | None:
        """Of a call, in the mean of ranks: measured at this size, or between two sizes."""
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
        arms = self._arms.get((need.benchmark, need.ranks, need.datatype, need.op, need.root,
                               need.message_bytes), [])  # fmt: skip
        if usual is None or not arms:
            return math.nan
        return min(min(_time_of(row).value for row in arms) / usual.value, 1.0)


def _time_on(curve: Mapping[int, Row], message_bytes: int) -> Told | None:
    """At this size, or on the line between the sizes below and above."""
    if message_bytes in curve:
        return _time_of(curve[message_bytes])
    below = max((size for size in curve if 0 < size < message_bytes), default=None)
    above = min((size for size in curve if size > message_bytes), default=None)
    if below is None or above is None:
        return None
    part = math.log(message_bytes / below) / math.log(above / below)
    ends = _time_of(curve[below]), _time_of(curve[above])
    return Told(*(_between(one, other, part) for one, other in zip(*map(_ends, ends), strict=True)))


def _ends(told: Told) -> tuple[float, float, float]:
    return told.value, told.low, told.high


def _between(one: float, other: float, part: float) -> float:
    """On a line through both where times and sizes are logarithms."""
    return math.exp((1 - part) * math.log(one) + part * math.log(other)) if one > 0 < other else 0.0


def _time_of(row: Row) -> Told:
    """In the mean of ranks, which profiles have, too; its error is that of the slowest's."""
    cell = row.cell
    mean = cell.time_avg_s if cell.time_avg_s > 0 else cell.time_p50_s
    value = mean * cell.time_scale
    low, high = (end / cell.time_p50_s if math.isfinite(end) else 1.0
                 for end in (row.low_s, row.high_s))  # fmt: skip
    return Told(value, value * low, value * high)


def joined(account: Account, uses: Sequence[Use], machine: Machine) -> Joined:
    by_site: dict[int, list[Use]] = defaultdict(list)
    for use in uses:
        by_site[use.called.number].append(use)
    sites = [_site(account, called, by_site[called.number], machine) for called in account.inside]
    kept = [each for each in sites if each.waiting or each.machine]
    run_s = float(account.run_s.mean())
    mpi_s = float(account.mpi_s.mean())
    waiting = sum(each.waiting.value for each in sites if each.waiting)
    disturbed = float(account.profile.waits["disturbed_s"].sum()) / max(len(account.ranks), 1)
    split = sum(each.called.mean_s for each in sites if each.waiting)
    return Joined(
        sites=tuple(kept),
        network=max(mpi_s - waiting - disturbed, 0.0) / run_s if run_s else math.nan,
        balance=(waiting + mpi_s - split) / run_s if run_s else math.nan,
        setting=_saved(uses, machine) / run_s if run_s else math.nan,
    )


def _saved(uses: Sequence[Use], machine: Machine) -> float:
    """Seconds of a rank, of what settings are known for; NaN: of none."""
    known = [(use, machine.best(use.need)) for use in uses]
    saved = [
        use.calls * told.value * (1 - best)
        for use, best in known
        if best == best and (told := machine.time(use.need))
    ]
    return sum(saved) if saved else math.nan


def _site(account: Account, called: Called, uses: Sequence[Use], machine: Machine) -> JoinedSite:
    ranks = max(len(account.ranks), 1)
    waiting, moving = _split(account, called, ranks)
    told = [(use, machine.time(use.need)) for use in uses]
    known = [(use, time) for use, time in told if time is not None]
    if not known:
        return JoinedSite(called, waiting, None, None, 0.0)
    able = Told(*(sum(use.calls * getattr(time, end) for use, time in known)
                  for end in ("value", "low", "high")))  # fmt: skip
    whole = sum(use.seconds for use in uses)
    part = sum(use.seconds for use, _ in known) / whole if whole else 0.0
    moved = moving or Told(called.mean_s, called.mean_s, called.mean_s)
    above = Told(
        moved.value * part - able.value, moved.low * part - able.high, moved.high * part - able.low
    )
    return JoinedSite(called, waiting, able, above, part)


def _split(account: Account, called: Called, ranks: int) -> tuple[Told | None, Told | None]:
    """Waiting and moving of a rank, where they were told apart."""
    spots = account.profile.spots
    rows = account.profile.waits
    rows = rows[rows["site"] == spots.index(called.spot)] if len(rows) else rows
    if not len(rows):
        return None, None
    return _told(rows, "waiting", ranks), _told(rows, "moving", ranks)


def _told(rows: Any, part: str, ranks: int) -> Told:
    """The mean of ranks, whose errors are their own."""
    value = float(rows[f"{part}_s"].sum())
    below = float(np.hypot.reduce(rows[f"{part}_s"] - rows[f"{part}_low_s"]))
    above = float(np.hypot.reduce(rows[f"{part}_high_s"] - rows[f"{part}_s"]))
    return Told(value / ranks, max(value - below, 0.0) / ranks, (value + above) / ranks)
