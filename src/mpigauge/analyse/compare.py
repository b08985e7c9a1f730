# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Several runs, or parts of one, compared number by number with the first.

Only like is compared with like. Two numbers belong together when all their columns are the same;
where a number has no such partner, one that differs in nothing but how it was measured (placement,
cache, source, …) is taken, and what differs is said. Numbers of other ranks, data types or
operations are never compared; they are named as left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any

from mpigauge.analyse.items import MEDIAN, OF_LAUNCHES, Item, items
from mpigauge.analyse.unlike import OF_HOW, Left, differences, left_out
from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.units import percent
from mpigauge.stats.ratio import Ratio, ratio
from mpigauge.stats.turns import in_turn
from mpigauge.stats.verdicts import TOLERANCE, Judged, judge

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Figure
    from mpigauge.model.row import Row

MOST_LOST = 0.1
"""Where others take more of the cores, two runs at different times met two different machines."""
NOT_VARIED = ("suite", "benchmark", "message_bytes", "name", "unit", "better")
"""Columns that say what a number is; sides of a comparison cannot differ in them."""


@dataclass(frozen=True)
class Side:
    name: str
    items: tuple[Item, ...]
    starts: Mapping[int, str] = field(default_factory=dict, hash=False)
    """When each launch began; its text is in the order of time."""
    facts: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What holds for all of its numbers and may differ: hosts, settings."""
    lost_ratio: float = 0.0
    """Share of the cores that others took while it was measured."""


@dataclass(frozen=True)
class Entry:
    """One number of one side. All but `item` is empty for the first side."""

    item: Item | None
    """None: this side has not measured it."""
    ratio: Ratio | None = None
    judged: Judged | None = None
    unlike: tuple[str, ...] = ()
    """In what it was measured otherwise than the first."""

    @property
    def verdict(self) -> str:
        return self.item.word(self.judged.said) if self.item and self.judged else ""

    @property
    def worse(self) -> bool:
        return bool(self.item and self.judged and self.item.worse(self.judged.said))


@dataclass(frozen=True)
class Table:
    """What differs in nothing but the size of messages; an entry of each side in each line."""

    lines: tuple[tuple[Entry, ...], ...]

    @property
    def first(self) -> Item:
        return next(entry.item for entry in self.lines[0] if entry.item)

    def column(self, side: int) -> list[Entry]:
        return [line[side] for line in self.lines]


@dataclass(frozen=True)
class Comparison:
    names: tuple[str, ...]
    """Of the sides; all are compared with the first."""
    tables: tuple[Table, ...]
    left_out: tuple[Left, ...]
    tolerance: float
    varied: str = ""
    """The column that sides of one run differ in."""
    unlike: tuple[str, ...] = ()
    """In what facts other sides differ from the first."""
    response: str = MEDIAN
    """What its numbers are of their launches."""

    @property
    def entries(self) -> list[Entry]:
        """All that were judged."""
        every = (entry for table in self.tables for line in table.lines for entry in line)
        return [entry for entry in every if entry.judged]


def compare(
    sides: Sequence[Side],
    tolerance: float = TOLERANCE,
    varied: str = "",
    response: str = MEDIAN,
) -> Comparison:
    """Everything that the first side shares with any other; no tables where nothing is shared.

    `response`: one of items.RESPONSES; of best and worst launches nothing is decided.
    """
    first, *others = sides if response == MEDIAN else [_extreme(each, response) for each in sides]
    found = [_partners(first.items, other.items) for other in others]
    ratios = [
        (place, number, _ratio(first, other, first.items[place], item))
        for number, (other, partners) in enumerate(zip(others, found, strict=True))
        for place, item in partners.items()
    ]
    judged = judge([each for _, _, each in ratios], tolerance)
    lost = [max(first.lost_ratio, other.lost_ratio) for other in others]
    known = {
        (p, n): (of, _sure(of, said, lost[n]) if response == MEDIAN else _open(response))
        for (p, n, of), said in zip(ratios, judged, strict=True)
    }
    notes = [
        left
        for other, partners in zip(others, found, strict=True)
        for left in left_out((first.name, first.items), (other.name, other.items), partners)
    ]
    shared = [p for p in range(len(first.items)) if any(p in partners for partners in found)]
    lines = [(p, _line(first.items[p], p, found, known)) for p in shared]
    names = tuple(side.name for side in sides)
    unlike = tuple(words for other in others for words in _other_facts(first, other))
    tables = tuple(_tables(first, lines))
    return Comparison(names, tables, tuple(notes), tolerance, varied, unlike, response)


def split(
    rows: Sequence[Row], figures: Sequence[Figure], column: str, starts: Mapping[int, str]
) -> list[Side]:
    """The sides of one run: a value each of this column, the default one first."""
    whole = items(rows, figures)
    columns = dict.fromkeys(name for item in whole for name, _ in item.columns)
    known = [name for name in columns if name not in NOT_VARIED]
    if column not in known:
        hint = did_you_mean(column, known) or f"; there are {', '.join(known)}"
        raise UserError(f"--by: there is no column '{column}' to compare by{hint}")
    has = partial(_value, column)
    values = list(dict.fromkeys(map(has, (*[row.cell for row in rows], *figures))))
    values = sorted((value for value in values if value is not None), key=lambda v: v != "")
    if len(values) < 2:
        only = f"{values[0] or 'the default'}" if values else "none"
        raise UserError(f"--by {column}: the run has one value of it ({only}); nothing to compare")
    return [
        Side(
            str(value) or "default",
            items(
                [row for row in rows if has(row.cell) == value],
                [figure for figure in figures if has(figure) == value],
                without=(column,),
            ),
            starts,
        )
        for value in values
    ]


def _extreme(side: Side, response: str) -> Side:
    """One launch for each number, the worst or the best."""
    return replace(side, items=tuple(item.of_launch(response) for item in side.items))


def _other_facts(first: Side, other: Side) -> Iterator[str]:
    for name, fact in first.facts.items():
        if other.facts.get(name, fact) != fact:
            yield f"{name}: {fact} ({first.name}) against {other.facts[name]} ({other.name})"


def _value(column: str, of: Cell | Figure) -> Any:
    """None: it has no such column."""
    return getattr(of, column, None)


def _partners(first: Sequence[Item], second: Sequence[Item]) -> dict[int, Item]:
    """For places in the first the item of the second that belongs there."""
    exact = {item.columns: item for item in second}
    found = {
        place: exact[item.columns] for place, item in enumerate(first) if item.columns in exact
    }
    taken = {item.columns for item in found.values()}
    alone = _by_identity((p, item) for p, item in enumerate(first) if p not in found)
    rest = _by_identity((0, item) for item in second if item.columns not in taken)
    for identity, ours in alone.items():
        theirs = rest.get(identity, [])
        if len(ours) == len(theirs) == 1:
            found[ours[0][0]] = theirs[0][1]
    return found


def _by_identity(numbered: Iterable[tuple[int, Item]]) -> dict[Hashable, list[tuple[int, Item]]]:
    """Items that differ in nothing but how they were measured."""
    found: dict[Hashable, list[tuple[int, Item]]] = {}
    for place, item in numbered:
        key = tuple(pair for pair in item.columns if pair[0] not in OF_HOW)
        found.setdefault(key, []).append((place, item))
    return found


def _ratio(first: Side, second: Side, a: Item, b: Item) -> Ratio:
    pairs = in_turn(
        [(first.starts.get(n, ""), n) for n in a.numbers],
        [(second.starts.get(n, ""), n) for n in b.numbers],
    )
    return ratio(a.sample, b.sample, pairs)


def _sure(ratio: Ratio, judged: Judged, lost_ratio: float) -> Judged:
    """No difference is claimed of launches at different times on a machine that others used."""
    if ratio.paired or judged.said not in ("LESS", "MORE") or lost_ratio <= MOST_LOST:
        return judged
    why = f"others took {percent(lost_ratio)} of the cores; measure both in turn"
    return replace(judged, said="UNDECIDED", why=why)


def _open(response: str) -> Judged:
    return Judged("UNDECIDED", nan, why=f"of the {response} launch alone nobody knows the error")


def _line(
    item: Item,
    place: int,
    found: Sequence[Mapping[int, Item]],
    known: Mapping[tuple[int, int], tuple[Ratio, Judged]],
) -> tuple[Entry, ...]:
    entries = [Entry(item)]
    for number, partners in enumerate(found):
        partner = partners.get(place)
        if partner is None:
            entries.append(Entry(None))
        else:
            entries.append(Entry(partner, *known[place, number], differences(item, partner)))
    return tuple(entries)


def _tables(first: Side, lines: Sequence[tuple[int, tuple[Entry, ...]]]) -> Iterator[Table]:
    """Lines under their headings, in the order in which these first appear."""
    found: dict[Hashable, list[tuple[Entry, ...]]] = {}
    for place, line in lines:
        columns = first.items[place].columns
        key = tuple(pair for pair in columns if pair[0] not in ("message_bytes", OF_LAUNCHES))
        found.setdefault(key, []).append(line)
    return (Table(tuple(of)) for of in found.values())
