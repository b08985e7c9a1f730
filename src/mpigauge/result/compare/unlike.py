# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The differences between two numbers, and the numbers left out because of them, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.model.column_facts import HOW, label, value_word
from mpigauge.model.grouping import distinct, grouped
from mpigauge.result.compare.items import OF_LAUNCHES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mpigauge.result.compare.items import Item

OF_HOW = (*HOW, OF_LAUNCHES)
"""Columns for how a number was measured: numbers that differ only in them are compared, with a
note. All other columns identify the number."""
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


def left_out(first: Named, second: Named, partners: Mapping[int, Item]) -> Iterator[Unpaired]:
    """One for each benchmark that has numbers without a partner."""
    used = {item.columns for item in partners.values()}
    alone = [item for place, item in enumerate(first[1]) if place not in partners]
    ours = grouped(alone, _name)
    theirs = grouped((item for item in second[1] if item.columns not in used), _name)
    for benchmark in {**ours, **theirs}:
        a, b = ours.get(benchmark, []), theirs.get(benchmark, [])
        if a and b:
            yield Unpaired(benchmark, _apart((first[0], a), (second[0], b)), True)
        else:
            who, rows = (first[0], a) if a else (second[0], b)
            yield Unpaired(benchmark, f"{_count(len(rows))} only in {who}", False)


def _apart(first: Named, second: Named) -> str:
    """The columns in which they have nothing in common, else why none belongs to another."""
    phrases = []
    for column, _ in first[1][0].columns:
        a, b = _values(first[1], column), _values(second[1], column)
        if column not in OF_HOW and not set(a) & set(b):
            there = f"{_either(column, a)} in {first[0]}, {_either(column, b)} in {second[0]}"
            phrases.append(f"{label(column)}: {there}")
    counts = f"{_count(len(first[1]))} of {first[0]} and {len(second[1])} of {second[0]}"
    return f"{counts} are not compared, {'; '.join(phrases) or _several(first, second)}"


def _several(first: Named, second: Named) -> str:
    """Returns the choices for --only if more than one number could belong to another."""
    choices = []
    for name, rows in (first, second):
        for column in OF_HOW:
            values = _values(rows, column)
            if len(values) > 1:
                choices.append(f"{column} {_either(column, values)} in {name}")
    summary = "several could belong together"
    if not choices:
        return summary
    column = choices[0].split()[0]
    return f"{summary}: {'; '.join(choices)} (--only {column}=…)"


def _values(rows: Sequence[Item], column: str) -> list[Any]:
    return distinct(rows, lambda item: dict(item.columns).get(column))


def _either(column: str, values: Sequence[Any]) -> str:
    words = [value_word(column, value) for value in values[:_MOST]]
    if len(values) > _MOST:
        words.append("others")
    return " or ".join(words)


def _count(count: int) -> str:
    return f"{count} row{'s' * (count != 1)}"


def _name(item: Item) -> str:
    if item.row:
        return item.benchmark
    return f"{item.benchmark} {item.what}"
