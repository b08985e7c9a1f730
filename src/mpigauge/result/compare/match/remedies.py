# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The options that pair numbers of which several could belong together: --only arm=tcp."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, product
from typing import TYPE_CHECKING

from mpigauge.model.column_facts import value_word
from mpigauge.model.grouping import distinct
from mpigauge.result.compare.match.only import selection
from mpigauge.result.compare.match.partners import OF_HOW, PLACEMENT, partners, where

if TYPE_CHECKING:
    from mpigauge.result.compare.match.items import Item

_MOST_SHOWN, _MOST_TRIED, _MOST_ITEMS = 3, 60, 4000
Choice = Mapping[str, Sequence[str]]
"""The values of columns, as `only` takes them."""


def remedies(
    first: Sequence[Item], second: Sequence[Item], alone: tuple[Sequence[Item], Sequence[Item]]
) -> tuple[str, ...]:
    """Returns the options that pair most of the numbers in `alone`, which have no partner; each was
    tried on all numbers of both sides. Pairs of two placements count if there are no others."""
    if len(first) + len(second) > _MOST_ITEMS:
        return ()
    for choices in (_of_one_column(alone), _of_two_columns(alone)):
        alike: Counter[str] = Counter()
        apart: Counter[str] = Counter()
        for choice in islice(choices, _MOST_TRIED):
            for is_alike in _paired(choice, tuple(first), tuple(second), alone):
                counts = alike if is_alike else apart
                counts[_as_option(choice)] += 1
        if counts := alike or apart:
            return tuple(option for option, _ in counts.most_common(_MOST_SHOWN))
    return ()


def _paired(
    choice: Choice,
    first: tuple[Item, ...],
    second: tuple[Item, ...],
    alone: tuple[Sequence[Item], Sequence[Item]],
) -> Iterator[bool]:
    """Yields for each pair of lonely numbers that a choice makes whether the placements agree."""
    for column, values in choice.items():
        first, second = selection(first, column, values), selection(second, column, values)
    ours, theirs = ({item.columns for item in side} for side in alone)
    for place, other in partners(first, second).items():
        item = first[place]
        if item.columns in ours and other.columns in theirs:
            yield where(item) == where(other)


def _of_one_column(alone: tuple[Sequence[Item], Sequence[Item]]) -> Iterator[Choice]:
    """Yields each value of a column in which one side varies, then a value of each side."""
    columns = (PLACEMENT, *(name for name in OF_HOW if name != PLACEMENT))
    both: list[Choice] = []
    for column in columns:
        ours, theirs = (_values(side, column) for side in alone)
        if len(ours) > 1 or len(theirs) > 1:
            yield from ({column: [value]} for value in dict.fromkeys([*ours, *theirs]))
            both += [{column: [a, b]} for a, b in product(ours, theirs) if a != b]
    yield from both


def _of_two_columns(alone: tuple[Sequence[Item], Sequence[Item]]) -> Iterator[Choice]:
    varied: dict[str, list[str]] = {}
    for column in OF_HOW:
        both = dict.fromkeys(chain(*(_values(side, column) for side in alone)))
        if len(both) > 1:
            varied[column] = list(both)
    for place, (column, values) in enumerate(varied.items()):
        for other in list(varied)[place + 1 :]:
            for a, b in product(values, varied[other]):
                yield {column: [a], other: [b]}


def _values(items: Sequence[Item], column: str) -> list[str]:
    """Returns the values of a column in the words that `--only` takes."""
    stored = distinct(items, lambda item: dict(item.columns).get(column))
    return [value_word(column, value) for value in stored if value is not None]


def _as_option(choice: Choice) -> str:
    words = []
    for column, values in choice.items():
        words += [f"--only {shlex.quote(f'{column}={value}')}" for value in values]
    return " ".join(words)
