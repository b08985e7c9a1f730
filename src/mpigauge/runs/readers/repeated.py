# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Keeps rows and figures that a text prints twice under one key, as launches.

A reader counts launches where its text has a new heading. A key that occurs again without one is
kept as a further launch, and a remark reports it. The registry applies this to every reader.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from mpigauge.model.columns import KEY_COLUMNS
from mpigauge.model.record import Figure
from mpigauge.model.units import byte_count, first_few, many
from mpigauge.runs.readers.reading import Reading, TextTable, unknown_columns

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence


def with_each_row_kept(reading: Reading) -> Reading:
    """The same reading, in which no launch holds a key twice."""
    repeats = _Repeats(reading.last_launch)
    tables = tuple(repeats.tables(reading.tables))
    figures = tuple(repeats.figures(reading.figures))
    if not repeats.names:
        return reading
    launches = {launch.launch: launch for launch in reading.launches}
    for number, original in repeats.launches.items():
        if original in launches:
            launches[number] = replace(launches[original], launch=number)
    return replace(
        reading,
        tables=tables,
        figures=figures,
        launches=tuple(launches.values()),
        remarks=(*reading.remarks, repeats.remark()),
    )


def row_keys(reading: Reading) -> set[Hashable]:
    """The keys of all rows and figures, of any launch."""
    keys: set[Hashable] = {_figure_key(figure)[1:] for figure in reading.figures}
    for table in reading.tables:
        shared = _shared_key(table)[1:]
        keys |= {(shared, key) for key in _keys_in(table)}
    return keys


_KEY = ("launch", *KEY_COLUMNS)
_UNKNOWN = tuple(unknown_columns()[name] for name in _KEY)


class _Repeats:
    """The keys so far, and the launches added for repeated ones."""

    def __init__(self, last_launch: int) -> None:
        self.last_launch = last_launch
        self.count: Counter[Hashable] = Counter()
        self.names: dict[str, None] = {}
        self.rows = 0
        self.launches: dict[int, int] = {}
        """Each further launch, and the launch that it repeats."""

    def tables(self, tables: Sequence[TextTable]) -> Iterator[TextTable]:
        """The tables, split where a row repeats the key of an earlier one."""
        keys = list(map(_shared_key, tables))
        shared = Counter(keys)
        for table, key in zip(tables, keys, strict=True):
            if shared[key] == 1 and (table.is_distinct or table.rows < 2):
                yield table
            else:
                yield from self._parts(table, key)

    def figures(self, figures: Iterable[Figure]) -> Iterator[Figure]:
        """The figures; an exact repetition of an earlier one makes no launch."""
        values: dict[Hashable, dict[float, int]] = {}
        for figure in figures:
            turns = values.setdefault(_figure_key(figure), {})
            is_new = figure.value not in turns
            turn = turns.setdefault(figure.value, len(turns))
            if turn and is_new:
                self._note(figure.launch, turn, f"{figure.benchmark} {figure.name}")
            yield replace(figure, launch=self.last_launch + turn) if turn else figure

    def remark(self) -> str:
        return (
            f"the text prints {first_few(self.names)} again without a new heading: "
            f"{many(self.rows, 'row')} kept as further launches"
        )

    def _parts(self, table: TextTable, shared: Hashable) -> Iterator[TextTable]:
        turns: dict[int, list[int]] = {}
        for place, key in enumerate(_keys_in(table)):
            turn = self.count[shared, key]
            self.count[shared, key] += 1
            turns.setdefault(turn, []).append(place)
            if turn:
                self._note(table.fixed["launch"], turn, _name(table, place))
        if set(turns) <= {0}:
            yield table
            return
        for turn, places in sorted(turns.items()):
            yield _part(table, places, self.last_launch + turn if turn else table.fixed["launch"])

    def _note(self, original: int, turn: int, name: str) -> None:
        self.rows += 1
        self.names.setdefault(name)
        self.launches.setdefault(self.last_launch + turn, original)


def _part(table: TextTable, places: Sequence[int], launch: int) -> TextTable:
    columns = table.varying

    def chosen() -> dict[str, Sequence[Any]]:
        return {name: [values[place] for place in places] for name, values in columns.items()}

    return TextTable({**table.fixed, "launch": launch}, len(places), chosen)


def _shared_key(table: TextTable) -> tuple[Any, ...]:
    """The launch, and the columns of the key that all rows of the table share."""
    return tuple(map(table.fixed.get, _KEY, _UNKNOWN))


def _keys_in(table: TextTable) -> Iterator[Hashable]:
    """The columns of each row's key that vary within the table."""
    columns = [(name, table.varying[name]) for name in KEY_COLUMNS if name in table.varying]
    for place in range(table.rows):
        yield tuple((name, _key_of(values[place])) for name, values in columns)


def _key_of(value: Any) -> Hashable:
    """A word as it is, and a number of any type as a whole one."""
    return value if isinstance(value, str) else int(value)


_figure_key: Callable[[Figure], tuple[Any, ...]] = attrgetter(
    *(each.name for each in fields(Figure) if each.name != "value")
)
"""The launch, and all other fields that distinguish figures."""


def _name(table: TextTable, place: int) -> str:
    size = int(table.varying["message_bytes"][place]) if "message_bytes" in table.varying else -1
    name = str(table.fixed["benchmark"])
    return name if size < 0 else f"{name} of {byte_count(size)}"
