# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the schema says of columns, as whoever shows, sorts or compares numbers asks for it.

schema/columns.toml is the only place where this is kept: a column that is added there is told
apart, said and compared without a line elsewhere.
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
"""The column that a curve runs over."""
HOW = tuple(column.name for column in COLUMNS if column.role == "how")
"""How a number was measured: numbers that differ only in these are compared, and it is said."""
IDENTITY = tuple(column.name for column in COLUMNS if column.role in ("what", "how"))
"""All that tells one number from another: what was measured, and how."""
OF_CURVES = tuple(name for name in KEY_COLUMNS if name != SIZE)
"""What tells one curve from another."""
OF_TABLES = tuple(name for name in ORDER_OF_WORDS if not OF_NAME[name].in_table)
"""What tells one table of rows from another, in the order in which headings say it."""
USUAL: Mapping[str, Any] = {c.name: c.usual for c in COLUMNS if c.usual is not None}
"""The values that go without saying, of columns that have such a value."""
IMPORTED: Mapping[str, Any] = {
    **USUAL,
    **{c.name: c.imported for c in COLUMNS if c.imported is not None},
}
"""The values in numbers of other programs that say nothing of these columns."""


def label(name: str) -> str:
    """What a column is called; also one that is not a column of cells, but of figures."""
    column = OF_NAME.get(name)
    if column and column.label:
        return column.label
    return name


def value_word(name: str, value: Any) -> str:
    """A value of a column beside others of it; an empty one has a name, too."""
    if value != "":
        return str(value)
    column = OF_NAME.get(name)
    if column and column.empty:
        return column.empty
    return "none"


def heading_word(name: str, value: Any) -> str:
    """How headings and legends say the value of a column."""
    return _said(OF_NAME[name].heading or f"{{}} {label(name)}", name, value)


def words_in_name(values: Mapping[str, Any]) -> Iterator[str]:
    """How the name of one number says these values of its columns, where they are not usual."""
    return _not_usual(values, {name: OF_NAME[name].in_name for name in ORDER_OF_WORDS})


def phrases(cell: Cell) -> Iterator[str]:
    """How a sentence says of a curve with this cell what is not usual about it."""
    return _not_usual(vars(cell), {name: OF_NAME[name].phrase for name in ORDER_OF_WORDS})


def place(name: str, value: Any) -> Any:
    """What rows are sorted by where this is the value of a column."""
    values = OF_NAME[name].values
    if not values:
        return value
    if value in values:
        return values.index(value)
    return len(values)


def _not_usual(values: Mapping[str, Any], templates: Mapping[str, str]) -> Iterator[str]:
    for name, template in templates.items():
        if template and values.get(name, "") not in ("", USUAL.get(name)):
            yield _said(template, name, values[name])


def _said(template: str, name: str, value: Any) -> str:
    return template.format(OF_NAME[name].words.get(value, value))
