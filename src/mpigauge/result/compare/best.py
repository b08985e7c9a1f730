# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The best of several arms for each size, with its significance, from a comparison with the first.

An arm counts as better than the first only if its verdict, corrected for all comparisons, is
better. If several are, the one with the largest gain is named; arms whose intervals overlap its
interval are as good within the errors. The control, a second measurement of the first arm, is not
a candidate: it shows how often chance alone makes a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.model.names import CONTROL
from mpigauge.result.stats.verdicts import enough

if TYPE_CHECKING:
    from mpigauge.result.compare.comparison import ComparedNumber, Comparison, ComparisonTable
    from mpigauge.result.compare.match.items import Item
    from mpigauge.result.stats.ratio import Ratio


@dataclass(frozen=True)
class Named:
    """An arm and what it brought."""

    name: str
    entry: ComparedNumber


@dataclass(frozen=True)
class Best:
    """The best of one line of a table."""

    first: Item
    best: Named | None
    """The fastest arm; None: none is significantly better than the first."""
    arms: tuple[Named, ...]
    """The arms that were compared with the first."""
    as_good: tuple[Named, ...]
    """Others that are better too, and whose intervals reach the best one's."""
    worse: int
    undecided: int
    same: int
    few: bool
    """No arm has launches enough for a verdict."""

    @property
    def is_open(self) -> bool:
        """True if no arm is better, but an undecided one may still turn out to be."""
        return self.best is None and bool(self.arms) and (self.few or self.undecided > 0)


@dataclass(frozen=True)
class Control:
    """The result of measuring the default twice: how often chance makes a difference."""

    compared: int
    """Ratios of launches enough for a verdict."""
    different: int


@dataclass(frozen=True)
class BestTable:
    """The best arm at each size of one table of a comparison."""

    table: ComparisonTable
    lines: tuple[Best, ...]


@dataclass(frozen=True)
class BestSettings:
    """The best settings of a comparison, for each table and size."""

    comparison: Comparison
    tables: tuple[BestTable, ...]
    """The tables in which the first side has measured anything."""
    control: Control | None
    """The comparison of the default with itself; None: it was measured once."""

    @property
    def lines(self) -> list[Best]:
        return [line for table in self.tables for line in table.lines]


def best_of(comparison: Comparison) -> BestSettings:
    """Finds the best arms in a comparison whose first side is the default."""
    tables = []
    for table in comparison.tables:
        lines = tuple(best_lines(comparison, table))
        if lines:
            tables.append(BestTable(table, lines))
    return BestSettings(comparison, tuple(tables), control_of(comparison))


def best_lines(comparison: Comparison, table: ComparisonTable) -> Iterator[Best]:
    """The best of each line of a table that the first side has measured."""
    for first, *others in table.lines:
        if first.item is not None:
            yield _best(first.item, list(_arms(comparison.names, others)))


def control_of(comparison: Comparison) -> Control | None:
    """The comparison of the default with itself; None: it was measured once."""
    if CONTROL not in comparison.names:
        return None
    place = comparison.names.index(CONTROL)
    compared, different = 0, 0
    for table in comparison.tables:
        for entry in table.column(place):
            if entry.ratio and enough(entry.ratio) and entry.judged:
                compared += 1
                different += entry.judged.verdict in ("LESS", "MORE")
    return Control(compared, different)


def _arms(names: Sequence[str], others: Sequence[ComparedNumber]) -> Iterator[Named]:
    for name, entry in zip(names[1:], others, strict=True):
        if name != CONTROL and entry.item is not None:
            yield Named(name, entry)


def _best(first: Item, arms: Sequence[Named]) -> Best:
    better = sorted((arm for arm in arms if _is_better(arm.entry)), key=_gain, reverse=True)
    verdicts: Counter[str] = Counter()
    worse, few = 0, True
    for arm in arms:
        worse += arm.entry.worse
        if arm.entry.judged:
            verdicts[arm.entry.judged.verdict] += 1
        if arm.entry.ratio and enough(arm.entry.ratio):
            few = False
    best: Named | None = None
    as_good: list[Named] = []
    if better:
        best, *others = better
        as_good = [arm for arm in others if reaches(arm.entry.ratio, best.entry.ratio)]
    return Best(
        first=first,
        best=best,
        arms=tuple(arms),
        as_good=tuple(as_good),
        worse=worse,
        undecided=verdicts["UNDECIDED"],
        same=verdicts["SAME"],
        few=few,
    )


def _is_better(entry: ComparedNumber) -> bool:
    """True if its verdict is better than the first; never if neither direction is better."""
    item, judged = entry.item, entry.judged
    if item is None or judged is None or judged.verdict not in ("LESS", "MORE"):
        return False
    return bool(item.better) and not entry.worse


def _gain(arm: Named) -> float:
    """The distance of the ratio from 1, as a logarithm; 0 without a ratio."""
    if arm.entry.ratio:
        return abs(arm.entry.ratio.log)
    return 0.0


def reaches(one: Ratio | None, other: Ratio | None) -> bool:
    """True if the intervals of the two ratios overlap; False if a ratio is missing."""
    if one is None or other is None:
        return False
    first, second = one.estimate, other.estimate
    return not (first.low > second.high or second.low > first.high)
