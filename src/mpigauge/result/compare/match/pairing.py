# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Two sides of a comparison: the ratio of each number that both have, of each of their curves, and
of all their times; and what may be said of these together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from mpigauge.model.column_facts import PREDICTED
from mpigauge.result.stats.history import STARTING_SD
from mpigauge.result.stats.in_turn import in_turn
from mpigauge.result.stats.joint_ratio import SideValue, ratio_of_all
from mpigauge.result.stats.ratio import ratio
from mpigauge.result.stats.verdicts import judge_families

if TYPE_CHECKING:
    from mpigauge.result.compare.match.items import Item
    from mpigauge.result.compare.match.side import Side
    from mpigauge.result.stats.ratio import Ratio, Sample
    from mpigauge.result.stats.verdicts import Judged

Where = tuple[int, int]
"""The number of the pair, then that of the place or table in it."""
OF_MANY = 2.0
"""The weight of judgements of many numbers, relative to all judgements of single ones."""
_Key = TypeVar("_Key")


@dataclass(frozen=True)
class ItemPair:
    first: Side
    second: Side
    partners: Mapping[int, Item]
    """The item of the second side that belongs to each place of the first."""

    @property
    def lost_ratio(self) -> float:
        return max(self.first.lost_ratio, self.second.lost_ratio)

    def synchronised_alike(self, place: int) -> bool:
        """Rows whose calls began in two ways differ by more than what was measured."""
        a, b = self.first.items[place].row, self.partners[place].row
        return a is None or b is None or a.cell.sync == b.cell.sync

    def is_predicted(self, place: int) -> bool:
        """True if a number of either side was computed by a model, so that it has no launches."""
        rows = self.first.items[place].row, self.partners[place].row
        return any(row is not None and row.cell.origin == PREDICTED for row in rows)

    def times(self, places: Iterable[int]) -> list[int]:
        """The places, of these, that both have measured as a time, and in one way."""
        return [place for place in places if self._is_time(place)]

    def _is_time(self, place: int) -> bool:
        if place not in self.partners or not self.first.items[place].row:
            return False
        return self.synchronised_alike(place) and not self.is_predicted(place)

    def ratio(self, place: int) -> Ratio:
        """The ratio of the numbers at this place, second / first."""
        a, b = self.first.items[place], self.partners[place]
        pairs = in_turn(_begun(self.first, a), _begun(self.second, b))
        return ratio(_sample(self.first, a), _sample(self.second, b), pairs)

    def ratio_of_all(self, tables: Iterable[Sequence[int]]) -> Ratio:
        """The ratio over the times at these places of each table. Tables may have launches of their
        own, as where ranks differ; the first launches of all tables then count as one, and so
        on."""
        firsts, seconds = _Rounds(self.first), _Rounds(self.second)
        numbers: list[tuple[SideValue, SideValue]] = []
        for places in tables:
            of_first = firsts.values([self.first.items[place] for place in places])
            of_second = seconds.values([self.partners[place] for place in places])
            numbers += zip(of_first, of_second, strict=True)
        return ratio_of_all(numbers, firsts.starts, seconds.starts)


class _Rounds:
    """The launches of a side, counted from 0 in each table."""

    def __init__(self, side: Side) -> None:
        self.starts: dict[int, str] = {}
        """The start time of each round."""
        self._side = side

    def values(self, of_table: Sequence[Item]) -> list[SideValue]:
        """Returns the numbers of a table, with the rounds in which their values were measured."""
        launches: set[int] = set()
        for item in of_table:
            launches.update(item.numbers)
        rounds = {launch: number for number, launch in enumerate(sorted(launches))}
        for launch, number in rounds.items():
            self.starts.setdefault(number, self._side.starts.get(launch, ""))
        result = []
        for item in of_table:
            of_item = tuple(rounds[launch] for launch in item.numbers)
            result.append(SideValue(_sample(self._side, item), of_item))
        return result


def _begun(side: Side, item: Item) -> list[tuple[str, int]]:
    """Returns the launches of a number with their start times; an unknown time is empty."""
    return [(side.starts.get(launch, ""), launch) for launch in item.numbers]


def _sample(side: Side, item: Item) -> Sample:
    """Returns the item's sample, with the scatter between runs if it counts; never for figures."""
    if not side.run_alone or item.row is None:
        return item.sample
    scatter = item.row.scatter
    if scatter is None:
        return replace(item.sample, between_runs=STARTING_SD)
    return replace(item.sample, between_runs=scatter.sd, runs=scatter.runs)


@dataclass(frozen=True)
class Judgements:
    """Each ratio with its judgement."""

    numbers: Mapping[Where, tuple[Ratio, Judged]]
    """The judgement of each number, keyed by the pair and the place."""
    curves: Mapping[Where, tuple[Ratio, Judged]]
    """The judgement of each curve of two or more times, keyed by the pair and the table."""
    wholes: Mapping[int, tuple[Ratio, Judged]]
    """The judgement of all times of a pair with two or more tables of times, keyed by the pair."""


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
    judged = judge_families(families, tolerance)
    return Judgements(_with(numbers, judged[0]), _with(curves, judged[1]), _with(wholes, judged[2]))


def _with(
    ratios: Mapping[_Key, Ratio], judged: Sequence[Judged]
) -> dict[_Key, tuple[Ratio, Judged]]:
    return dict(zip(ratios, zip(ratios.values(), judged, strict=True), strict=True))
