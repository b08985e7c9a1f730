# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Selects among numbers that sides hold in several ways: --only placement=l3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mpigauge.model import data_memory
from mpigauge.model.column_facts import value_word
from mpigauge.model.errors import UserError, no_such

if TYPE_CHECKING:
    from mpigauge.result.compare.items import Item
    from mpigauge.result.compare.side import Side


def read_only(words: Iterable[str]) -> dict[str, str]:
    """COLUMN=VALUE as columns and values."""
    values = {}
    for text in words:
        column, equals, value = text.partition("=")
        if not (column.strip() and equals and value.strip()):
            raise UserError(f"--only: '{text}' chooses nothing; write COLUMN=VALUE, placement=l3")
        values[column.strip()] = _stored(column.strip(), value.strip())
    return values


def _stored(column: str, value: str) -> str:
    return data_memory.as_stored(value) if column == data_memory.COLUMN else value


def only(sides: Sequence[Side], chosen: Mapping[str, str]) -> list[Side]:
    """Each side with the numbers that have these values; one that has none of a value stays whole.
    UserError: there is no such column, or no side has the value."""
    selected = list(sides)
    for column, value in chosen.items():
        _check(selected, column, value)
        selected = [_with(side, column, value) for side in selected]
    return selected


def _with(side: Side, column: str, value: str) -> Side:
    kept = tuple(item for item in side.items if _is(item, column, value))
    if kept:
        return replace(side, items=kept)
    return side


def _is(item: Item, column: str, value: str) -> bool:
    columns = dict(item.columns)
    if column not in columns:
        return False
    return value in (str(columns[column]), value_word(column, columns[column]))


def _check(sides: Sequence[Side], column: str, value: str) -> None:
    values: dict[str, dict[Any, None]] = {}
    for item in (item for side in sides for item in side.items):
        for name, each in item.columns:
            values.setdefault(name, {})[each] = None
    if column not in values:
        raise no_such("column", column, values, "--only")
    if not any(_is(item, column, value) for side in sides for item in side.items):
        choices = ", ".join(value_word(column, each) for each in values[column])
        raise UserError(f"--only {column}={value}: no run has it; there are {choices}")
