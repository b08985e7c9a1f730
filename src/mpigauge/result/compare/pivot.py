# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Sizes down, and placements, settings or runs across: a comparison as one table.

A comparison holds what the first side shares with others. Here every number has its place: also
sizes that the first has not measured, and benchmarks that only others have. Those are compared
with the first of them, since each table has one column that the others are a ratio to.

The best columns of each line are marked: the one with the largest gain, and those that do not
differ from it significantly. Against the base column the test is that of a verdict; between two
other columns it is whether the intervals of their ratios overlap, as for `best`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from mpigauge.model.column_facts import SIZE
from mpigauge.model.errors import UserError, nearest_or_all
from mpigauge.model.names import DEFAULT
from mpigauge.result.compare.best import reaches
from mpigauge.result.compare.compare import ARM, compare
from mpigauge.result.compare.comparison import ComparedNumber, Comparison, Overall
from mpigauge.result.compare.match.partners import OF_HOW
from mpigauge.result.stats.verdicts import TOLERANCE

if TYPE_CHECKING:
    from mpigauge.result.compare.match.items import Item
    from mpigauge.result.compare.match.side import Side
    from mpigauge.result.stats.figures import Columns
    from mpigauge.result.stats.ratio import Ratio
    from mpigauge.result.stats.verdicts import Judged

Outcome = Literal["best", "alike", "undecided", ""]
"""best: some columns are better than others; alike: all are as good as each other; undecided:
nothing is known of any of them; empty: there is nothing to choose from."""
OF_RUNS = ("run", "mpi", "host", "date")
"""Names with one value per run that may stand across, in addition to columns of cells."""
_OF_FIGURES = ("name", "unit", "better")
"""Columns in which the lines of a table of figures differ."""


@dataclass(frozen=True)
class BestColumns:
    """The best columns of a line."""

    outcome: Outcome = ""
    columns: frozenset[int] = frozenset()
    """best: those not significantly worse than the best; undecided: those with the best number."""


@dataclass(frozen=True)
class PivotLine:
    first: Item
    """The first item of the line; it identifies the line."""
    entries: tuple[ComparedNumber, ...]
    """One for each column; without an item where it was not measured."""
    choice: BestColumns


@dataclass(frozen=True)
class PivotTable:
    names: tuple[str, ...]
    """The names of the columns: the sides that have a number in this table."""
    base: int
    """The column that the others are a ratio to."""
    lines: tuple[PivotLine, ...]
    failed: frozenset[int]
    """The columns without numbers, since their launches failed."""
    overall: tuple[Overall | None, ...]
    """The geometric mean of each column's ratios; None: of the base, or of fewer than two times."""
    choice: BestColumns
    """The best of these means."""

    @property
    def first(self) -> Item:
        return self.lines[0].first

    @property
    def items(self) -> list[Item]:
        """The numbers of all columns, its first one first."""
        entries = (entry for line in self.lines for entry in line.entries)
        return [self.first, *(entry.item for entry in entries if entry.item)]


@dataclass(frozen=True)
class Pivot:
    tables: tuple[PivotTable, ...]
    comparisons: tuple[Comparison, ...]
    """The sources of the ratios; several if no column has a number in every table."""
    alone: tuple[str, ...]
    """The benchmarks that only one column has, in words."""
    varied: str = ""
    """The column of cells that its columns are the values of."""


def pivot(
    sides: Sequence[Side], tolerance: float = TOLERANCE, varied: str = "", base: str = ""
) -> Pivot:
    """All numbers of the sides. `base`: the name of the one that others are a ratio to, where it
    has a number; empty: the first. UserError: there is no such side."""
    names = [side.name for side in sides]
    if varied == ARM and names[0] == DEFAULT:
        names = [*names[1:], DEFAULT]
    failed = {side.name for side in sides if side.has_failed}
    sides = [side for side in sides if side.items]
    first = _base(sides, base)
    left = [first, *(side for side in sides if side is not first)]
    tables: list[PivotTable] = []
    comparisons: list[Comparison] = []
    alone: list[str] = []
    while left:
        comparison = compare(left, tolerance, varied)
        sheets, rest = _spread(comparison, left)
        for sheet in sheets:
            if len(sheet.names | failed) > 1:
                tables.append(_table(sheet, names, left[0].name, failed))
            else:
                alone.append(_only(sheet))
        if comparison.tables:
            comparisons.append(comparison)
        left = rest
    return Pivot(tuple(tables), tuple(comparisons), tuple(dict.fromkeys(alone)), varied)


def _base(sides: Sequence[Side], name: str) -> Side:
    if not name:
        return sides[0]
    by_name = {side.name: side for side in sides}
    if name not in by_name:
        hint = nearest_or_all(name, by_name)
        raise UserError(f"--to: there is no column '{name}'{hint}")
    return by_name[name]


@dataclass
class _Sheet:
    """A table that is being filled."""

    lines: dict[Hashable, dict[str, ComparedNumber]] = field(default_factory=dict)
    """The numbers, keyed by the line and then by the side."""
    overall: dict[str, Overall | None] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """The names of the sides that have a number of it."""
        return set().union(*self.lines.values())

    def put(self, name: str, entry: ComparedNumber) -> bool:
        """Puts an entry at its place unless that is taken; returns True unless it is."""
        if entry.item is None:
            return True
        line = self.lines.setdefault(_line_of(entry.item), {})
        return line.setdefault(name, entry) is entry


def _spread(comparison: Comparison, sides: Sequence[Side]) -> tuple[list[_Sheet], list[Side]]:
    """Returns tables of all numbers of the first side, next to those of other sides; and the sides
    with their remaining items."""
    sheets: dict[Columns, _Sheet] = {}
    used: set[int] = set()
    for table in comparison.tables:
        sheet = sheets.setdefault(_table_of(table.first), _Sheet())
        for line in table.lines:
            for name, entry in zip(comparison.names, line, strict=True):
                sheet.put(name, entry)
                used.add(id(entry.item))
        if table.first.row:
            sheet.overall = dict(zip(comparison.names, table.overall, strict=True))
    rest = []
    for side in sides:
        kept = []
        for item in side.items:
            if id(item) not in used and not _placed(item, side.name, sheets, side is sides[0]):
                kept.append(item)
        if kept:
            rest.append(replace(side, items=tuple(kept)))
    return list(sheets.values()), rest


def _placed(item: Item, name: str, sheets: dict[Columns, _Sheet], is_first: bool) -> bool:
    """Puts a number without a partner into a table; False if there is none for it. The first
    side's numbers always get one."""
    key = _table_of(item)
    if key in sheets or is_first:
        return sheets.setdefault(key, _Sheet()).put(name, ComparedNumber(item)) or is_first
    alike = [sheet for of, sheet in sheets.items() if _what(of) == _what(key)]
    return len(alike) == 1 and alike[0].put(name, ComparedNumber(item))


def _table_of(item: Item) -> Columns:
    """Returns the columns that the lines of the item's table have in common."""
    apart = (SIZE,) if item.row else _OF_FIGURES
    return tuple(pair for pair in item.columns if pair[0] not in apart)


def _what(columns: Columns) -> Columns:
    """Returns the columns without those for how it was measured."""
    return tuple(pair for pair in columns if pair[0] not in OF_HOW)


def _line_of(item: Item) -> Hashable:
    if item.row:
        return item.message_bytes
    return (item.what, item.unit)


def _table(sheet: _Sheet, names: Sequence[str], first: str, failed: Set[str]) -> PivotTable:
    columns = tuple(name for name in names if name in sheet.names | failed)
    base = columns.index(first) if first in columns else 0
    lines = [_line(line, columns, base) for line in sheet.lines.values()]
    lines.sort(key=lambda line: line.first.message_bytes)
    overall = [sheet.overall.get(name) for name in columns]
    empty = frozenset(columns.index(name) for name in failed - sheet.names)
    return PivotTable(columns, base, tuple(lines), empty, tuple(overall), _choice(overall, base))


def _line(line: Mapping[str, ComparedNumber], columns: Sequence[str], base: int) -> PivotLine:
    entries = tuple(line.get(name, ComparedNumber(None)) for name in columns)
    items = [entry.item for entry in entries if entry.item]
    return PivotLine(items[0], entries, _best_of(items[0], entries, base))


def _only(sheet: _Sheet) -> str:
    """PingPong: 3 rows only in A."""
    (name,) = sheet.names
    item = next(iter(sheet.lines.values()))[name].item
    what = item.benchmark if item else ""
    rows = len(sheet.lines)
    return f"{what}: {rows} row{'s' * (rows != 1)} only in {name}"


# --- which is best ----------------------------------------------------------------------------
@dataclass(frozen=True)
class _Candidate:
    """A column of a line."""

    value: float
    """The smaller the better."""
    ratio: Ratio | None = None
    judged: Judged | None = None

    @property
    def decided(self) -> bool:
        return self.judged is not None and self.judged.verdict != "UNDECIDED"

    @property
    def differs(self) -> bool:
        """True if the candidate differs from the base."""
        return self.judged is not None and self.judged.verdict in ("LESS", "MORE")


def _best_of(item: Item, entries: Sequence[ComparedNumber], base: int) -> BestColumns:
    """Returns the best columns of a line; none if neither direction is better."""
    if not item.better:
        return BestColumns()
    sign = -1.0 if item.better == "higher" else 1.0
    candidates = {}
    for place, entry in enumerate(entries):
        if entry.item:
            value = sign * entry.item.value.value
            candidates[place] = _Candidate(value, entry.ratio, entry.judged)
    return _chosen(candidates, base)


def _choice(means: Sequence[Overall | None], base: int) -> BestColumns:
    """Returns the best of geometric means of time ratios, one per column; the base's mean is 1."""
    candidates = {base: _Candidate(1.0)}
    for place, mean in enumerate(means):
        if mean:
            candidates[place] = _Candidate(mean.ratio.estimate.value, mean.ratio, mean.judged)
    return _chosen(candidates, base)


def _chosen(candidates: Mapping[int, _Candidate], base: int) -> BestColumns:
    if len(candidates) < 2:
        return BestColumns()
    least = min(each.value for each in candidates.values())
    leading, tied = [], set()
    decided = False
    for place, candidate in candidates.items():
        decided = decided or candidate.decided
        if candidate.value == least:
            leading.append(place)
    if not decided:
        return BestColumns("undecided", frozenset(leading))
    for place in candidates:
        if not _apart(leading[0], place, candidates, base):
            tied.add(place)
    if tied == set(candidates):
        return BestColumns("alike")
    return BestColumns("best", frozenset(tied))


def _apart(leading: int, place: int, candidates: Mapping[int, _Candidate], base: int) -> bool:
    """True if the column is significantly worse than the leading one."""
    lead, other = candidates[leading], candidates[place]
    if place == leading:
        return False
    if base == leading:
        return other.differs
    if base == place:
        return lead.differs
    return (lead.decided or other.decided) and not reaches(lead.ratio, other.ratio)
