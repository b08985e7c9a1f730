# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A pivot for programs: JSON, and CSV with a line for each size and columns for each side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mpigauge.model.fields import plain
from mpigauge.show.tables import records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.row import Estimate
    from mpigauge.result.compare.comparison import ComparedNumber, Overall
    from mpigauge.result.compare.match.items import Item
    from mpigauge.result.compare.pivot import BestColumns, Pivot, PivotLine, PivotTable

_OF_ONE_NUMBER = ("benchmark", "message_bytes", "name", "unit", "better")
"""Columns that lines have in words of their own."""
MEAN = "geometric mean"


def as_json(pivot: Pivot) -> str:
    data = {
        "tool": "mpigauge",
        "varied": pivot.varied,
        "tables": [_table(table) for table in pivot.tables],
        "alone": list(pivot.alone),
    }
    return records.as_json(data)


def as_csv(pivot: Pivot) -> str:
    """A pivot as CSV, in SI units. The line of means has ratios only, and says so in `of`."""
    return records.as_csv([row for table in pivot.tables for row in _rows(table)])


def _table(table: PivotTable) -> dict[str, Any]:
    return {
        **_columns(table),
        "columns": list(table.names),
        "failed": [table.names[place] for place in sorted(table.failed)],
        "ratio_to": table.names[table.base],
        "lines": [_line(table, line) for line in table.lines],
        "mean": {
            "outcome": table.choice.outcome,
            "best": _best(table, table.choice),
            "ratios": _means(table),
        },
    }


def _best(table: PivotTable, choice: BestColumns) -> list[str]:
    """The names of the columns that are best."""
    return [table.names[place] for place in sorted(choice.columns)]


def _means(table: PivotTable) -> dict[str, Any]:
    means = {}
    for name, mean in zip(table.names, table.overall, strict=True):
        if mean:
            means[name] = _overall(mean)
    return means


def _columns(table: PivotTable) -> dict[str, Any]:
    """The columns that all numbers of the table share."""
    first = table.first
    columns = {}
    for name, v in first.columns:
        if name not in _OF_ONE_NUMBER:
            columns[name] = plain(v)
    return {"benchmark": first.benchmark, **columns}


def _line(table: PivotTable, line: PivotLine) -> dict[str, Any]:
    numbers = {}
    for name, entry in zip(table.names, line.entries, strict=True):
        if entry.item:
            numbers[name] = _number(entry, entry.item)
    return {
        **_what(line),
        "outcome": line.choice.outcome,
        "best": _best(table, line.choice),
        "numbers": numbers,
    }


def _what(line: PivotLine) -> dict[str, Any]:
    item = line.first
    return {"message_bytes": item.message_bytes, "of": item.what, "unit": item.unit}


def _number(entry: ComparedNumber, item: Item) -> dict[str, Any]:
    record = {**_ends("value", item.value), "launches": len(item.numbers)}
    if entry.ratio:
        record |= _ends("ratio", entry.ratio.estimate)
    return record | {"verdict": entry.verdict, "undecided": entry.undecided}


def _overall(overall: Overall) -> dict[str, Any]:
    return {
        **_ends("ratio", overall.ratio.estimate),
        "numbers": overall.numbers,
        "verdict": overall.verdict,
        "undecided": overall.undecided,
    }


def _rows(table: PivotTable) -> Iterator[dict[str, Any]]:
    shared = {name: _in_csv(value) for name, value in _columns(table).items()}
    for line in table.lines:
        row = {**shared, **_what(line), "outcome": line.choice.outcome}
        for place, (name, entry) in enumerate(zip(table.names, line.entries, strict=True)):
            if entry.item:
                row |= _ends(name, entry.item.value, " ")
                if entry.ratio:
                    row |= _ends(f"{name} ratio", entry.ratio.estimate, " ")
                row[f"{name} best"] = int(place in line.choice.columns)
        yield row
    if any(table.overall):
        row = {**shared, "of": MEAN, "outcome": table.choice.outcome}
        for place, (name, mean) in enumerate(zip(table.names, table.overall, strict=True)):
            if mean:
                row |= _ends(f"{name} ratio", mean.ratio.estimate, " ")
            row[f"{name} best"] = int(place in table.choice.columns)
        yield row


def _in_csv(value: Any) -> Any:
    """Truth values of columns are the words True and False in a pivot."""
    if isinstance(value, bool):
        return str(value)
    return value


def _ends(name: str, of: Estimate, link: str = "_") -> dict[str, Any]:
    """A number and the ends of its interval, as columns; what is not known is empty."""
    return {
        name: plain(of.value),
        f"{name}{link}low": plain(of.low),
        f"{name}{link}high": plain(of.high),
    }
