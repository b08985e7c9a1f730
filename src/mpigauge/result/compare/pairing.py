# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Two sides of a comparison: the ratio of each number that both have, of each of their curves, and
of all their times; and what may be said of these together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from mpigauge.result.stats.history import STARTING_SD
from mpigauge.result.stats.in_turn import in_turn
from mpigauge.result.stats.joint_ratio import SideValue, ratio_of_all
from mpigauge.result.stats.ratio import ratio
from mpigauge.result.stats.verdicts import judge_families

if TYPE_CHECKING:
    from mpigauge.result.compare.items import Item
    from mpigauge.result.compare.side import Side
    from mpigauge.result.stats.ratio import Ratio, Sample
    from mpigauge.result.stats.verdicts import Judged

Where = tuple[int, int]
"""Which pair, and which place or table of it."""
OF_MANY = 2.0
"""The weight of what is said of many numbers, beside all that is said of single ones."""
_Key = TypeVar("_Key")


@dataclass(frozen=True)
class ItemPair:
    first: Side
    second: Side
    partners: Mapping[int, Item]
    """What of the second belongs to each place of the first."""

    @property
    def lost_ratio(self) -> float:
        return max(self.first.lost_ratio, self.second.lost_ratio)

    def synchronised_alike(self, place: int) -> bool:
        """Rows whose calls began in two ways differ by more than what was measured."""
        a, b = self.first.items[place].row, self.partners[place].row
        return a is None or b is None or a.cell.sync == b.cell.sync

    def times(self, places: Iterable[int]) -> list[int]:
        """The places, of these, that both have measured as a time, and in one way."""
        return [place for place in places if self._is_time(place)]

    def _is_time(self, place: int) -> bool:
        if place not in self.partners or not self.first.items[place].row:
            return False
        return self.synchronised_alike(place)

    def ratio(self, place: int) -> Ratio:
        """The ratio of the numbers at this place, second / first."""
        a, b = self.first.items[place], self.partners[place]
        pairs = in_turn(_begun(self.first, a), _begun(self.second, b))
        return ratio(_sample(self.first, a), _sample(self.second, b), pairs)

    def ratio_of_all(self, tables: Iterable[Sequence[int]]) -> Ratio:
        """Over the times at these places of each table. Tables may be of launches of their own, as
        where ranks differ; the first launches of all tables then count as one, and so on."""
        firsts, seconds = _Rounds(self.first), _Rounds(self.second)
        numbers: list[tuple[SideValue, SideValue]] = []
        for places in tables:
            of_first = firsts.known([self.first.items[place] for place in places])
            of_second = seconds.known([self.partners[place] for place in places])
            numbers += zip(of_first, of_second, strict=True)
        return ratio_of_all(numbers, firsts.starts, seconds.starts)


class _Rounds:
    """The launches of a side, counted from 0 in each table."""

    def __init__(self, side: Side) -> None:
        self.starts: dict[int, str] = {}
        """When each began."""
        self._side = side

    def known(self, of_table: Sequence[Item]) -> list[SideValue]:
        """The numbers of a table, with the rounds that their values are of."""
        launches: set[int] = set()
        for item in of_table:
            launches.update(item.numbers)
        rounds = {launch: number for number, launch in enumerate(sorted(launches))}
        for launch, number in rounds.items():
            self.starts.setdefault(number, self._side.starts.get(launch, ""))
        found = []
        for item in of_table:
            of_item = tuple(rounds[launch] for launch in item.numbers)
            found.append(SideValue(_sample(self._side, item), of_item))
        return found


def _begun(side: Side, item: Item) -> list[tuple[str, int]]:
    """The launches of a number with when each began; empty where nobody knows."""
    return [(side.starts.get(launch, ""), launch) for launch in item.numbers]


def _sample(side: Side, item: Item) -> Sample:
    """With what runs of its machine differ by, where that counts. Of figures nothing is known."""
    if not side.run_alone or item.row is None:
        return item.sample
    scatter = item.row.scatter
    if scatter is None:
        return replace(item.sample, between_runs=STARTING_SD)
    return replace(item.sample, between_runs=scatter.sd, runs=scatter.runs)


@dataclass(frozen=True)
class Judgements:
    """Each ratio with what may be said of it."""

    numbers: Mapping[Where, tuple[Ratio, Judged]]
    """By the pair and the place."""
    curves: Mapping[Where, tuple[Ratio, Judged]]
    """By the pair and the table, of those with more than one time."""
    wholes: Mapping[int, tuple[Ratio, Judged]]
    """By the pair, of those with more than one table of times."""


def judgements(
    pairs: Sequence[ItemPair], tables: Sequence[Sequence[int]], tolerance: float, many: bool = True
) -> Judgements:
    """The judgements of all ratios together. `tables` are places of the first side; `many`: curves
    are judged, too."""
    numbers: dict[Where, Ratio] = {}
    curves: dict[Where, Ratio] = {}
    wholes: dict[int, Ratio] = {}
    for n, pair in enumerate(pairs):
        for place in pair.partners:
            numbers[n, place] = pair.ratio(place)
        if not many:
            continue
        timed = []
        for at, places in enumerate(tables):
            times = pair.times(places)
            if times:
                timed.append(times)
            if len(times) > 1:
                curves[n, at] = pair.ratio_of_all([times])
        if len(timed) > 1:
            wholes[n] = pair.ratio_of_all(timed)
    of_many = OF_MANY / (bool(curves) + bool(wholes) or 1)
    families = [
        (1.0, list(numbers.values())),
        (of_many, list(curves.values())),
        (of_many, list(wholes.values())),
    ]
    said = judge_families(families, tolerance)
    return Judgements(_with(numbers, said[0]), _with(curves, said[1]), _with(wholes, said[2]))


def _with(
    ratios: Mapping[_Key, Ratio], judged: Sequence[Judged]
) -> dict[_Key, tuple[Ratio, Judged]]:
    return dict(zip(ratios, zip(ratios.values(), judged, strict=True), strict=True))
