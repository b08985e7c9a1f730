# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Several runs, or parts of one, compared number by number with the first.

Besides the single numbers, each curve is judged as a whole, and so is everything together: what is
too small to be sure of at any single size may be sure over all of them.

Only like is compared with like (`partners.py`). Paired numbers that were measured in different
ways have a remark; numbers of other ranks, data types or operations are never compared and are
named as left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any, Literal

from mpigauge.model.column_facts import BENCHMARK, SIZE
from mpigauge.model.errors import UserError, nearest_or_all
from mpigauge.model.grouping import grouped
from mpigauge.model.names import DEFAULT
from mpigauge.model.units import percent
from mpigauge.result.compare.comparison import (
    ComparedNumber,
    Comparison,
    ComparisonTable,
    Overall,
)
from mpigauge.result.compare.match.items import MEDIAN, OF_LAUNCHES, Item, items
from mpigauge.result.compare.match.of_runs import SweptSettings
from mpigauge.result.compare.match.pairing import ItemPair, Judgements, judgements
from mpigauge.result.compare.match.partners import partners
from mpigauge.result.compare.match.side import Side
from mpigauge.result.compare.match.unlike import Unpaired, differences, left_out
from mpigauge.result.compare.summary import in_words
from mpigauge.result.stats.verdicts import TOLERANCE, Judged

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Figure
    from mpigauge.model.row import Row
    from mpigauge.result.stats.ratio import Ratio

ALL = -1
"""Stands for all tables where the number of a table is expected."""
MOST_LOST = 0.1
"""The largest share of the cores lost to others at which runs at different times are comparable."""
ARM = "arm"
"""The column of settings that a sweep varies."""
NOT_SWEPT = SweptSettings((), frozenset())
NOT_VARIED = (*BENCHMARK, SIZE, "name", "unit", "better")
"""Columns that identify a number; sides of a comparison cannot differ in them."""


def compare(
    sides: Sequence[Side],
    tolerance: float = TOLERANCE,
    varied: str = "",
    response: str = MEDIAN,
    curves: bool = True,
) -> Comparison:
    """Compares all numbers that the first side shares with any other; no shared number, no tables.

    `response`: one of items.RESPONSES; best and worst launches are never decided. `curves`: also
    judge curves as a whole; without, single numbers keep all the weight.
    """
    failed = tuple(side.name for side in sides if side.has_failed and not side.items)
    sides = [side for side in sides if side.name not in failed]
    if response != MEDIAN:
        sides = [_extreme(side, response) for side in sides]
    first, *others = sides
    pairs = [ItemPair(first, other, partners(first.items, other.items)) for other in others]
    places_of_tables = _places_of_tables(first, _shared(pairs, len(first.items)))
    judged = judgements(pairs, places_of_tables, tolerance, many=curves and response == MEDIAN)
    overall = _overall_of(pairs, places_of_tables, judged)

    def overall_at(table: int) -> tuple[Overall | None, ...]:
        """An entry for each side; the first has none."""
        return (None, *(overall.get((number, table)) for number in range(len(pairs))))

    tables = []
    for number, places in enumerate(places_of_tables):
        lines = [_line(first.items[place], place, pairs, judged, response) for place in places]
        tables.append(ComparisonTable(tuple(lines), overall_at(number)))
    notes: list[Unpaired] = []
    for pair in pairs:
        ours, theirs = (first.name, first.items), (pair.second.name, pair.second.items)
        notes.extend(left_out(ours, theirs, pair.partners))
    unlike: list[str] = []
    for other in others:
        unlike += _other_facts(first, other)
    comparison = Comparison(
        names=tuple(side.name for side in sides),
        tables=tuple(tables),
        left_out=tuple(notes),
        tolerance=tolerance,
        varied=varied,
        unlike=tuple(unlike),
        response=response,
        failed=failed,
        overall=overall_at(ALL),
        between_runs=_between_runs(pairs),
    )
    return in_words(comparison)


def _shared(pairs: Sequence[ItemPair], count: int) -> list[int]:
    """Places, of so many, at which any side has a partner of the first side's number."""
    places: set[int] = set()
    for pair in pairs:
        places.update(pair.partners)
    return sorted(places & set(range(count)))


def split(
    rows: Sequence[Row],
    figures: Sequence[Figure],
    column: str,
    starts: Mapping[int, str],
    swept: SweptSettings = NOT_SWEPT,
) -> list[Side]:
    """The sides of one run: a value each of this column, the default one first. UserError: there
    is no such column, or it has one value."""
    sides = parts(rows, figures, column, starts, swept)
    if len(sides) < 2:
        only = sides[0].name if sides else "none"
        raise UserError(f"--by {column}: the run has one value of it ({only}); nothing to compare")
    return sides


def parts(
    rows: Sequence[Row],
    figures: Sequence[Figure],
    column: str,
    starts: Mapping[int, str],
    swept: SweptSettings = NOT_SWEPT,
    option: str = "--by",
) -> list[Side]:
    """The sides that a column divides rows and figures into, also where there is one value of it.
    Settings are in the order of the sweep, and those that failed are sides without numbers.
    `option`: what named the column."""
    columns: dict[str, None] = {}
    for item in items(rows, figures):
        columns.update(dict.fromkeys(name for name, _ in item.columns))
    names = [name for name in columns if name not in NOT_VARIED]
    if column not in names:
        hint = nearest_or_all(column, names)
        raise UserError(f"{option}: there is no column '{column}' to compare by{hint}")
    rows_by = grouped(rows, lambda row: _value(column, row.cell))
    figures_by = grouped(figures, lambda figure: _value(column, figure))
    values = [value for value in {**rows_by, **figures_by} if value is not None]
    if column == ARM:
        values = _as_typed(values, swept)
    else:
        values.sort(key=lambda value: value != "")
    sides = []
    for value in values:
        of_value = items(rows_by.get(value, []), figures_by.get(value, []), without=(column,))
        has_failed = column == ARM and value in swept.failed
        sides.append(Side(str(value) or DEFAULT, of_value, starts, has_failed=has_failed))
    return sides


def _as_typed(values: Sequence[str], swept: SweptSettings) -> list[str]:
    """Settings in the order of the sweep, the default first: those that have values, and those that
    failed."""
    there = {"": None, **dict.fromkeys(swept.names), **dict.fromkeys(values)}
    return [name for name in there if name in values or name in swept.failed]


def _extreme(side: Side, response: str) -> Side:
    """One launch for each number, the worst or the best."""
    return replace(side, items=tuple(item.of_launch(response) for item in side.items))


def _other_facts(first: Side, other: Side) -> Iterator[str]:
    for name, fact in first.facts.items():
        if other.facts.get(name, fact) != fact:
            yield f"{name}: {fact} ({first.name}) against {other.facts[name]} ({other.name})"


def _value(column: str, of: Cell | Figure) -> Any:
    """The value of a column; None: there is no such column."""
    return getattr(of, column, None)


def _line(
    item: Item, place: int, pairs: Sequence[ItemPair], results: Judgements, response: str
) -> tuple[ComparedNumber, ...]:
    """An entry of each side."""
    entries = [ComparedNumber(item)]
    for n, pair in enumerate(pairs):
        partner = pair.partners.get(place)
        if partner is None:
            entries.append(ComparedNumber(None))
            continue
        ratio, judged = results.numbers[n, place]
        if response != MEDIAN:
            judged = _open(f"of the {response} launch alone the error is unknown")
        elif pair.is_predicted(place):
            judged = _open("a prediction has no launches, so there is a ratio and no significance")
        elif not pair.synchronised_alike(place):
            judged = _open("its calls began in two ways")
        else:
            judged = _sure(ratio, judged, pair.lost_ratio)
        entries.append(ComparedNumber(partner, ratio, judged, differences(item, partner)))
    return tuple(entries)


def _overall_of(
    pairs: Sequence[ItemPair], tables: Sequence[Sequence[int]], results: Judgements
) -> dict[tuple[int, int], Overall]:
    """Returns the judgements of curves, keyed by the pair and the number of the table or ALL."""
    overall = {}
    for n, pair in enumerate(pairs):
        counts = {at: len(pair.times(places)) for at, places in enumerate(tables)}
        counts[ALL] = sum(counts.values())
        of_pair = {at: each for (of, at), each in results.curves.items() if of == n}
        if n in results.wholes:
            of_pair[ALL] = results.wholes[n]
        for at, (ratio, judged) in of_pair.items():
            sure = _sure(ratio, judged, pair.lost_ratio)
            overall[n, at] = Overall(ratio, sure, counts[at])
    return overall


def _sure(ratio: Ratio, judged: Judged, lost_ratio: float) -> Judged:
    """No difference is claimed of launches at different times on a machine that others used."""
    if ratio.paired or judged.verdict not in ("LESS", "MORE") or lost_ratio <= MOST_LOST:
        return judged
    return _open(f"others took {percent(lost_ratio)} of the cores; measure both in turn", judged.p)


def _between_runs(pairs: Sequence[ItemPair]) -> Literal["", "known", "starting"]:
    """Returns how the scatter between runs is known for the times compared; empty: not counted."""
    rows: list[Row] = []
    for pair in pairs:
        if not (pair.first.run_alone and pair.second.run_alone):
            continue
        for place, partner in pair.partners.items():
            both = (pair.first.items[place].row, partner.row)
            rows += [row for row in both if row]
    if not rows:
        return ""
    if all(row.scatter and row.scatter.is_known for row in rows):
        return "known"
    return "starting"


def _open(why: str, p: float = nan) -> Judged:
    return Judged("UNDECIDED", p, why=why)


def _places_of_tables(first: Side, places: Sequence[int]) -> list[list[int]]:
    """Places under their headings, in the order in which these first appear."""

    def heading(place: int) -> Hashable:
        columns = first.items[place].columns
        return tuple(pair for pair in columns if pair[0] not in (SIZE, OF_LAUNCHES))

    return list(grouped(places, heading).values())
