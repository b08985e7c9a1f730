# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Several runs, or parts of one, compared number by number with the first.

Besides the single numbers, each curve is judged as a whole, and so is everything together: what is
too small to be sure of at any single size may be sure over all of them.

Only like is compared with like. Two numbers belong together when all their columns are the same;
where a number has no such partner, one that differs in nothing but how it was measured (placement,
cache, source, …) is taken, and what differs is said. Numbers of other ranks, data types or
operations are never compared; they are named as left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import nan
from typing import TYPE_CHECKING, Any, Literal

from mpigauge.model.column_facts import BENCHMARK, SIZE
from mpigauge.model.errors import UserError, nearest_or_all
from mpigauge.model.units import percent
from mpigauge.result.compare.comparison import (
    ComparedNumber,
    Comparison,
    ComparisonTable,
    Overall,
)
from mpigauge.result.compare.items import MEDIAN, OF_LAUNCHES, Item, items
from mpigauge.result.compare.pairing import ItemPair, Judgements, judgements
from mpigauge.result.compare.side import Side
from mpigauge.result.compare.summary import in_words
from mpigauge.result.compare.unlike import OF_HOW, differences, left_out
from mpigauge.result.stats.verdicts import TOLERANCE, Judged

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Figure
    from mpigauge.model.row import Row
    from mpigauge.result.stats.ratio import Ratio

ALL = -1
"""In the place of a table's number: all of them."""
MOST_LOST = 0.1
"""Where others take more of the cores, two runs at different times met two different machines."""
NOT_VARIED = (*BENCHMARK, SIZE, "name", "unit", "better")
"""Columns that say what a number is; sides of a comparison cannot differ in them."""


def compare(
    sides: Sequence[Side],
    tolerance: float = TOLERANCE,
    varied: str = "",
    response: str = MEDIAN,
    curves: bool = True,
) -> Comparison:
    """Everything that the first side shares with any other; no tables where nothing is shared.

    `response`: one of items.RESPONSES; of best and worst launches nothing is decided. `curves`:
    they are judged as a whole, too; who does not show that keeps all the weight for single numbers.
    """
    first, *others = sides if response == MEDIAN else [_extreme(each, response) for each in sides]
    pairs = [ItemPair(first, other, _partners(first.items, other.items)) for other in others]
    shared = [p for p in range(len(first.items)) if any(p in pair.partners for pair in pairs)]
    tables = _places_of_tables(first, shared)
    said = judgements(pairs, tables, tolerance, many=curves and response == MEDIAN)
    overall = _overall_of(pairs, tables, said)
    notes = [
        left
        for pair in pairs
        for left in left_out(
            (first.name, first.items), (pair.second.name, pair.second.items), pair.partners
        )
    ]
    found = Comparison(
        names=tuple(side.name for side in sides),
        tables=tuple(
            ComparisonTable(
                tuple(_line(first.items[p], p, pairs, said, response) for p in places),
                (None, *(overall.get((n, at)) for n in range(len(pairs)))),
            )
            for at, places in enumerate(tables)
        ),
        left_out=tuple(notes),
        tolerance=tolerance,
        varied=varied,
        unlike=tuple(words for other in others for words in _other_facts(first, other)),
        response=response,
        overall=(None, *(overall.get((n, ALL)) for n in range(len(pairs)))),
        between_runs=_between_runs(pairs),
    )
    return in_words(found)


def split(
    rows: Sequence[Row], figures: Sequence[Figure], column: str, starts: Mapping[int, str]
) -> list[Side]:
    """The sides of one run: a value each of this column, the default one first. UserError: there
    is no such column, or it has one value."""
    found = parts(rows, figures, column, starts)
    if len(found) < 2:
        only = found[0].name if found else "none"
        raise UserError(f"--by {column}: the run has one value of it ({only}); nothing to compare")
    return found


def parts(
    rows: Sequence[Row],
    figures: Sequence[Figure],
    column: str,
    starts: Mapping[int, str],
    option: str = "--by",
) -> list[Side]:
    """The same, also where there is one value of it. `option`: what named the column."""
    whole = items(rows, figures)
    columns = dict.fromkeys(name for item in whole for name, _ in item.columns)
    known = [name for name in columns if name not in NOT_VARIED]
    if column not in known:
        hint = nearest_or_all(column, known)
        raise UserError(f"{option}: there is no column '{column}' to compare by{hint}")
    has = partial(_value, column)
    values = list(dict.fromkeys(map(has, (*[row.cell for row in rows], *figures))))
    values = sorted((value for value in values if value is not None), key=lambda v: v != "")
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


def _line(
    item: Item, place: int, pairs: Sequence[ItemPair], said: Judgements, response: str
) -> tuple[ComparedNumber, ...]:
    """An entry of each side."""
    entries = [ComparedNumber(item)]
    for n, pair in enumerate(pairs):
        partner = pair.partners.get(place)
        if partner is None:
            entries.append(ComparedNumber(None))
            continue
        ratio, judged = said.numbers[n, place]
        if response != MEDIAN:
            judged = _open(f"of the {response} launch alone nobody knows the error")
        elif not pair.synchronised_alike(place):
            judged = _open("its calls began in two ways")
        else:
            judged = _sure(ratio, judged, pair.lost_ratio)
        entries.append(ComparedNumber(partner, ratio, judged, differences(item, partner)))
    return tuple(entries)


def _overall_of(
    pairs: Sequence[ItemPair], tables: Sequence[Sequence[int]], said: Judgements
) -> dict[tuple[int, int], Overall]:
    """By the pair and the number of the table or ALL."""
    found = {}
    for n, pair in enumerate(pairs):
        counts = [len(pair.times(places)) for places in tables]
        of_pair = {at: each for (of, at), each in said.curves.items() if of == n}
        of_pair |= {ALL: said.wholes[n]} if n in said.wholes else {}
        for at, (ratio, judged) in of_pair.items():
            sure = _sure(ratio, judged, pair.lost_ratio)
            found[n, at] = Overall(ratio, sure, sum(counts) if at == ALL else counts[at])
    return found


def _sure(ratio: Ratio, judged: Judged, lost_ratio: float) -> Judged:
    """No difference is claimed of launches at different times on a machine that others used."""
    if ratio.paired or judged.said not in ("LESS", "MORE") or lost_ratio <= MOST_LOST:
        return judged
    return _open(f"others took {percent(lost_ratio)} of the cores; measure both in turn", judged.p)


def _between_runs(pairs: Sequence[ItemPair]) -> Literal["", "known", "starting"]:
    """Of all times that are compared."""
    pairs = [pair for pair in pairs if pair.first.run_alone and pair.second.run_alone]
    rows = [
        item.row
        for pair in pairs
        for place, partner in pair.partners.items()
        for item in (pair.first.items[place], partner)
        if item.row
    ]
    if not rows:
        return ""
    return "known" if all(row.scatter and row.scatter.known for row in rows) else "starting"


def _open(why: str, p: float = nan) -> Judged:
    return Judged("UNDECIDED", p, why=why)


def _places_of_tables(first: Side, places: Sequence[int]) -> list[list[int]]:
    """Places under their headings, in the order in which these first appear."""
    found: dict[Hashable, list[int]] = {}
    for place in places:
        columns = first.items[place].columns
        key = tuple(pair for pair in columns if pair[0] not in (SIZE, OF_LAUNCHES))
        found.setdefault(key, []).append(place)
    return list(found.values())
