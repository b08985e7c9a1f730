# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The differences between two numbers, and the numbers left out because of them, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.model.column_facts import label, value_word
from mpigauge.model.grouping import distinct, grouped
from mpigauge.model.units import listed
from mpigauge.result.compare.match.partners import OF_HOW, PLACEMENT
from mpigauge.result.compare.match.remedies import remedies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.result.compare.match.items import Item

OF_GROUP = ("group", "members")
"""Columns that distinguish the pairs of a map."""
_MOST = 3
"""Values of a column are named."""
Named = tuple[str, "Sequence[Item]"]


def differences(first: Item, second: Item) -> tuple[str, ...]:
    """A phrase for each column of how they were measured that is not the same."""
    theirs = dict(second.columns)
    phrases = []
    for name, value in first.columns:
        if name in OF_HOW and theirs.get(name, value) != value:
            phrases.append(
                f"{label(name)}: {value_word(name, value)} against {value_word(name, theirs[name])}"
            )
    return tuple(phrases)


class Unpaired(NamedTuple):
    """Numbers of a benchmark without a partner."""

    benchmark: str
    why: str
    refused: bool
    """Both sides have numbers of this benchmark, which are not alike; else one of them has none."""

    @property
    def text(self) -> str:
        return f"{self.benchmark}: {self.why}"


def left_out(first: Named, second: Named, paired: Mapping[int, Item]) -> Iterator[Unpaired]:
    """One for each benchmark that has numbers without a partner."""
    used = {item.columns for item in paired.values()}
    alone = [item for place, item in enumerate(first[1]) if place not in paired]
    ours = grouped(alone, _name)
    theirs = grouped((item for item in second[1] if item.columns not in used), _name)
    all_ours, all_theirs = grouped(first[1], _name), grouped(second[1], _name)
    for benchmark in {**ours, **theirs}:
        a, b = ours.get(benchmark, []), theirs.get(benchmark, [])
        if a and b:
            all_of = all_ours.get(benchmark, []), all_theirs.get(benchmark, [])
            yield Unpaired(benchmark, _apart((first[0], a), (second[0], b), all_of), True)
        else:
            who, rows, every = (first[0], a, all_ours) if a else (second[0], b, all_theirs)
            ways = _own_ways(rows, every.get(benchmark, []))
            yield Unpaired(benchmark, f"{_count(len(rows))} only in {who}{ways}", False)


def _apart(first: Named, second: Named, all_of: tuple[Sequence[Item], Sequence[Item]]) -> str:
    """Returns the reason why none belongs to another, and the option that pairs some of them.
    `all_of`: all numbers of the benchmark, of both sides."""
    counts = f"{_count(len(first[1]))} of {first[0]} and {len(second[1])} of {second[0]}"
    summary = f"{counts} are not compared"
    phrases = list(_nothing_in_common(first, second))
    if phrases:
        return f"{summary}, {'; '.join(phrases)}"
    held = [f"{name} has {_ways(rows)}" for name, rows in (first, second)]
    options = remedies(*all_of, alone=(first[1], second[1]))
    if not options:
        return f"{summary}, several could belong together: {'; '.join(held)}"
    pairs = "each pair some" if len(options) > 1 else "pairs some"
    return f"{summary}: {'; '.join(held)}; {' or '.join(options)} {pairs}"


def _nothing_in_common(first: Named, second: Named) -> Iterator[str]:
    """Yields the columns for what was measured in which both have no value in common."""
    for column, _ in first[1][0].columns:
        a, b = _values(first[1], column), _values(second[1], column)
        if column not in OF_HOW and column not in OF_GROUP and not set(a) & set(b):
            there = (
                f"{_named(column, a, 'or')} in {first[0]}, {_named(column, b, 'or')} in {second[0]}"
            )
            yield f"{label(column)}: {there}"
    pairs = [
        [item for item in rows if dict(item.columns).get("members")] for _, rows in (first, second)
    ]
    if any(pairs) and not all(pairs):
        name, rows = (first[0], pairs[0]) if pairs[0] else (second[0], pairs[1])
        yield f"those of {name} are {len(_values(rows, 'members'))} pairs of a map"


def _ways(rows: Sequence[Item]) -> str:
    """Returns the ways in which these numbers were measured, such as placement l3 and hosts."""
    phrases = []
    for column in OF_HOW:
        values = _values(rows, column)
        if column == PLACEMENT or len(values) > 1:
            phrases.append(f"{label(column)} {_named(column, values, 'and')}")
    return ", ".join(phrases)


def _own_ways(alone: Sequence[Item], every: Sequence[Item]) -> str:
    """Returns the ways in which only these numbers of a side were measured, in brackets; empty:
    the paired ones were measured alike, or there are none."""
    without = {item.columns for item in alone}
    paired = [item for item in every if item.columns not in without]
    phrases = []
    for column in OF_HOW:
        others = _values(paired, column)
        values = [value for value in _values(alone, column) if value not in others]
        if paired and values:
            phrases.append(f"{label(column)} {_named(column, values, 'and')}")
    return f" ({'; '.join(phrases)})" if phrases else ""


def _values(rows: Sequence[Item], column: str) -> list[Any]:
    return distinct(rows, lambda item: dict(item.columns).get(column))


def _named(column: str, values: Sequence[Any], last: str) -> str:
    """Returns the first values in words, `last` before the last one."""
    words = [value_word(column, value) for value in values[:_MOST]]
    if len(values) > _MOST:
        words.append("others")
    return listed(words, last)


def _count(count: int) -> str:
    return f"{count} row{'s' * (count != 1)}"


def _name(item: Item) -> str:
    if item.row:
        return item.benchmark
    return f"{item.benchmark} {item.what}"
