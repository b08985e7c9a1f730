# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The result of a reader: tables of numbers, figures, and lines that it could not read."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from mpigauge.model.column_facts import IMPORTED
from mpigauge.model.columns import SCHEMA_VERSION, Cell
from mpigauge.model.grouping import grouped
from mpigauge.model.record import CellRecord, End, Figure, Launch, Rank, Skip, nothing_known
from mpigauge.runs.readers.text import Unread as Unread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from mpigauge.model.cards import Card
    from mpigauge.runs.readers.reported import ReportedProfile


@dataclass  # not frozen, since there are many, and those take three times as long to make
class TextTable:
    """Rows under one heading: shared values, and columns of numbers of equal length."""

    fixed: Mapping[str, Any]
    rows: int
    columns: Callable[[], Mapping[str, Sequence[Any]]]
    """Makes the stored columns, by name (message_bytes, time_p50_s ...), on demand."""
    is_distinct: bool = False
    """True if its rows are known to differ in their keys."""

    @classmethod
    def of_rows(cls, fixed: Mapping[str, Any], rows: Sequence[Mapping[str, float]]) -> TextTable:
        """A table from rows of stored columns, with shared values. It has every column that any row
        has; a row without one has the value for unknown."""
        unknown = {**unknown_columns(), **fixed}

        def columns() -> dict[str, Sequence[float]]:
            names = dict.fromkeys(name for row in rows for name in row)
            return {name: [row.get(name, unknown[name]) for row in rows] for name in names}

        return cls(fixed, len(rows), columns)

    @cached_property
    def varying(self) -> Mapping[str, Sequence[Any]]:
        return self.columns()

    def cells(self) -> Iterator[Cell]:
        shared = {**unknown_columns(), **self.fixed}
        names = tuple(self.varying)
        for values in zip(*self.varying.values(), strict=True):
            yield Cell.from_record({**shared, **dict(zip(names, values, strict=True))})


@cache
def unknown_columns() -> Mapping[str, Any]:
    """The value of each column for a row whose text does not state it."""
    return {**nothing_known(), **IMPORTED}


@dataclass(frozen=True)
class Reading:
    tables: tuple[TextTable, ...] = ()
    figures: tuple[Figure, ...] = ()
    skips: tuple[Skip, ...] = ()
    launches: tuple[Launch, ...] = ()
    unread: tuple[Unread, ...] = ()
    remarks: tuple[str, ...] = ()
    """Assumptions made, in sentences."""
    cards: tuple[Card, ...] = ()
    """Cards of benchmarks that mpigauge does not have."""
    profiles: tuple[ReportedProfile, ...] = ()
    """Reports of other profilers; their numbers are also among the figures."""
    ranks: tuple[Rank, ...] = ()
    """The ranks whose hosts the text names."""

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables) + len(self.figures)

    @property
    def last_launch(self) -> int:
        """The largest launch number; -1 without launches."""
        of: list[Figure | Skip | Launch] = [*self.figures, *self.skips, *self.launches]
        numbers = [record.launch for record in of] + [t.fixed["launch"] for t in self.tables]
        return max(numbers, default=-1)

    def records(self) -> Iterator[Launch | Rank | CellRecord | Figure | Skip | End]:
        """Launches with their records; a launch that the text does not describe has unknown
        values."""
        by_launch: dict[int, list[CellRecord | Figure | Skip]] = {}
        for table in self.tables:
            by_launch.setdefault(table.fixed["launch"], []).extend(map(CellRecord, table.cells()))
        ranks = grouped(self.ranks, lambda rank: rank.launch)
        others: list[Figure | Skip] = [*self.figures, *self.skips]
        for record in others:
            by_launch.setdefault(record.launch, []).append(record)
        launches = {launch.launch: launch for launch in self.launches}
        for number in sorted(by_launch.keys() | launches.keys()):
            mine = by_launch.get(number, [])
            yield launches.get(number) or unknown_launch(number)
            yield from ranks.get(number, ())
            yield from mine
            cells = sum(isinstance(record, CellRecord) for record in mine)
            yield End(number, "done", math.nan, math.nan, 0, cells)


def unknown_launch(number: int, **facts: Any) -> Launch:
    """A launch of which only these facts are known."""
    return replace(Launch(number, SCHEMA_VERSION, 0, mode="classic"), **facts)


def joined(readings: Iterable[Reading]) -> Reading:
    """All readings in one, the launches of each numbered after those before it."""
    series = []
    launches = 0
    for reading in readings:
        series.append(_shifted(reading, launches))
        launches += reading.last_launch + 1
    parts = {}
    for name in Reading.__dataclass_fields__:
        parts[name] = tuple(each for reading in series for each in getattr(reading, name))
    parts |= {name: tuple(dict.fromkeys(parts[name])) for name in ("remarks", "cards")}
    return Reading(**parts)


def _shifted(reading: Reading, by: int) -> Reading:
    """The same reading, with its launches numbered from `by`."""
    tables = (_table(t, t.fixed["launch"] + by) for t in reading.tables)
    return replace(
        reading,
        tables=tuple(tables),
        figures=_later(reading.figures, by),
        skips=_later(reading.skips, by),
        launches=_later(reading.launches, by),
        profiles=_later(reading.profiles, by),
        ranks=_later(reading.ranks, by),
    )


def _table(table: TextTable, launch: int) -> TextTable:
    return replace(table, fixed={**table.fixed, "launch": launch})


def _later(records: Iterable[Any], by: int) -> tuple[Any, ...]:
    return tuple(replace(record, launch=record.launch + by) for record in records)
