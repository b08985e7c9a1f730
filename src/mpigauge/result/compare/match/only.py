# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Selects among numbers that sides hold in several ways: --only placement=l3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mpigauge.model import data_memory
from mpigauge.model.column_facts import value_word
from mpigauge.model.errors import UserError, no_such
from mpigauge.model.former_names import present_word
from mpigauge.model.placement_words import of_policy
from mpigauge.model.sizes import parse_bytes

BENCHMARK, PLACEMENT, SIZE = "benchmark", "placement", "message_bytes"

if TYPE_CHECKING:
    from mpigauge.result.compare.match.items import Item
    from mpigauge.result.compare.match.side import Side


Chosen = Mapping[str, Sequence[str]]
"""The values of each column of which a number needs one."""


def read_only(words: Iterable[str]) -> dict[str, list[str]]:
    """Reads COLUMN=VALUE. A column that is named again has several values."""
    values: dict[str, list[str]] = {}
    for text in words:
        column, equals, value = text.partition("=")
        if not (column.strip() and equals and value.strip()):
            raise UserError(f"--only: '{text}' chooses nothing; write COLUMN=VALUE, placement=l3")
        stored = _stored(column.strip(), value.strip())
        values.setdefault(column.strip(), []).append(stored)
    return values


def _stored(column: str, value: str) -> str:
    if column == data_memory.COLUMN:
        return data_memory.as_stored(value)
    if column == PLACEMENT:
        return of_policy(value)
    if column == BENCHMARK:
        present = present_word(value)
        return value if present == value else present.rpartition(":")[2]
    if column == SIZE:
        with suppress(UserError):
            return str(parse_bytes(value))
    return value


def only(sides: Sequence[Side], chosen: Chosen) -> list[Side]:
    """Returns each side with the numbers that have one of the values of each column; a side that
    has none of them stays whole. UserError: there is no such column, or no side has the value."""
    selected = list(sides)
    for column, values in chosen.items():
        for value in values:
            _check(selected, column, value)
        selected = [replace(side, items=selection(side.items, column, values)) for side in selected]
    return selected


def selection(items: tuple[Item, ...], column: str, values: Sequence[str]) -> tuple[Item, ...]:
    """Returns the items with one of these values; all of them if there are none."""
    return tuple(item for item in items if _is(item, column, values)) or items


def _is(item: Item, column: str, values: Sequence[str]) -> bool:
    columns = dict(item.columns)
    if column not in columns:
        return False
    stored = columns[column]
    return str(stored) in values or value_word(column, stored) in values


def _check(sides: Sequence[Side], column: str, value: str) -> None:
    values: dict[str, dict[Any, None]] = {}
    for item in (item for side in sides for item in side.items):
        for name, each in item.columns:
            values.setdefault(name, {})[each] = None
    if column not in values:
        raise no_such("column", column, values, "--only")
    if not any(_is(item, column, [value]) for side in sides for item in side.items):
        if "," in value:
            several = " ".join(f"--only {column}={each}" for each in value.split(",") if each)
            raise UserError(f"--only {column}={value}: for several values write {several}")
        choices = ", ".join(value_word(column, each) for each in values[column])
        raise UserError(f"--only {column}={value}: no run has it; there are {choices}")
