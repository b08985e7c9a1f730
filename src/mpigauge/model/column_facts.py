# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Facts about columns from the schema, for code that shows, sorts or compares numbers.

schema/columns.toml is the only place where they are kept: a new column there is distinguished,
shown and compared without a change elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.model.columns import COLUMNS, KEY_COLUMNS, ORDER_OF_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mpigauge.model.columns import Cell, Column

OF_NAME: Mapping[str, Column] = {column.name: column for column in COLUMNS}
BENCHMARK = ("suite", "benchmark")
"""The columns that name the benchmark."""
SIZE = "message_bytes"
"""The column along which a curve runs."""
HOW = tuple(column.name for column in COLUMNS if column.role == "how")
"""Columns for how a number was measured: numbers that differ only in these are compared, with a
note."""
IDENTITY = tuple(column.name for column in COLUMNS if column.role in ("what", "how"))
"""Columns that distinguish one number from another: what was measured, and how."""
OF_CURVES = tuple(name for name in KEY_COLUMNS if name != SIZE)
"""Columns that distinguish one curve from another."""
OF_TABLES = tuple(name for name in ORDER_OF_WORDS if not OF_NAME[name].in_table)
"""Columns that distinguish one table of rows from another, in the order of headings."""
USUAL: Mapping[str, Any] = {c.name: c.usual for c in COLUMNS if c.usual is not None}
"""Default values, which are not shown, of columns that have one."""
IMPORTED: Mapping[str, Any] = {
    **USUAL,
    **{c.name: c.imported for c in COLUMNS if c.imported is not None},
}
"""Column values for output of other programs that does not report them."""
PREDICTED = "predicted"
"""The origin of numbers that were computed by a model."""


def label(name: str) -> str:
    """The label of a column, or of a figure that has no column of its own."""
    column = OF_NAME.get(name)
    if column and column.label:
        return column.label
    return name


def value_word(name: str, value: Any) -> str:
    """A value of a column next to others; an empty value has a name, too."""
    if value != "":
        return str(value)
    column = OF_NAME.get(name)
    if column and column.empty:
        return column.empty
    return "none"


def heading_word(name: str, value: Any) -> str:
    """The value of a column as headings and legends show it."""
    return _filled(OF_NAME[name].heading or f"{{}} {label(name)}", name, value)


def words_in_name(values: Mapping[str, Any]) -> Iterator[str]:
    """The parts of a number's name for those of these columns that do not have their default
    value."""
    return _not_usual(values, {name: OF_NAME[name].in_name for name in ORDER_OF_WORDS})


def phrases(cell: Cell) -> Iterator[str]:
    """The phrases for those columns of a curve's cell that do not have their default value."""
    return _not_usual(vars(cell), {name: OF_NAME[name].phrase for name in ORDER_OF_WORDS})


def place(name: str, value: Any) -> Any:
    """The sort key of this value of a column."""
    values = OF_NAME[name].values
    if not values:
        return value
    if value in values:
        return values.index(value)
    return len(values)


def _not_usual(values: Mapping[str, Any], templates: Mapping[str, str]) -> Iterator[str]:
    for name, template in templates.items():
        if template and values.get(name, "") not in ("", USUAL.get(name)):
            yield _filled(template, name, values[name])


def _filled(template: str, name: str, value: Any) -> str:
    return template.format(OF_NAME[name].words.get(value, value))
