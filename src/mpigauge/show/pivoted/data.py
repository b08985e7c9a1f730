# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A pivot for programs: JSON, and CSV with a line for each size and columns for each side."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from mpigauge.model.fields import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.row import Estimate
    from mpigauge.result.compare.comparison import ComparedNumber, Overall
    from mpigauge.result.compare.pivot import Pivot, PivotLine, PivotTable

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
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(pivot: Pivot) -> str:
    """In SI units. The line of means has ratios only, and says so in `of`."""
    rows = [row for table in pivot.tables for row in _rows(table)]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _table(table: PivotTable) -> dict[str, Any]:
    return {
        **_columns(table),
        "columns": list(table.names),
        "ratio_to": table.names[table.base],
        "lines": [_line(table, line) for line in table.lines],
        "mean": {
            "outcome": table.choice.outcome,
            "best": [table.names[place] for place in sorted(table.choice.columns)],
            "ratios": {
                name: _overall(found)
                for name, found in zip(table.names, table.overall, strict=True)
                if found
            },
        },
    }


def _columns(table: PivotTable) -> dict[str, Any]:
    """What all its numbers have in common."""
    first = table.first
    known = {name: plain(v) for name, v in first.columns if name not in _OF_ONE_NUMBER}
    return {"benchmark": first.benchmark, **known}


def _line(table: PivotTable, line: PivotLine) -> dict[str, Any]:
    return {
        **_what(line),
        "outcome": line.choice.outcome,
        "best": [table.names[place] for place in sorted(line.choice.columns)],
        "numbers": {
            name: _number(entry)
            for name, entry in zip(table.names, line.entries, strict=True)
            if entry.item
        },
    }


def _what(line: PivotLine) -> dict[str, Any]:
    item = line.first
    return {"message_bytes": item.message_bytes, "of": item.what, "unit": item.unit}


def _number(entry: ComparedNumber) -> dict[str, Any]:
    item = entry.item
    return {
        **(_ends("value", item.value) if item else {}),
        "launches": len(item.numbers) if item else 0,
        **(_ends("ratio", entry.ratio.estimate) if entry.ratio else {}),
        "verdict": entry.verdict,
        "undecided": entry.undecided,
    }


def _overall(found: Overall) -> dict[str, Any]:
    return {
        **_ends("ratio", found.ratio.estimate),
        "numbers": found.numbers,
        "verdict": found.verdict,
        "undecided": found.undecided,
    }


def _rows(table: PivotTable) -> Iterator[dict[str, Any]]:
    shared = _columns(table)
    for line in table.lines:
        row = {**shared, **_what(line), "outcome": line.choice.outcome}
        for place, (name, entry) in enumerate(zip(table.names, line.entries, strict=True)):
            if entry.item:
                row |= _ends(name, entry.item.value, " ")
                row |= _ends(f"{name} ratio", entry.ratio.estimate, " ") if entry.ratio else {}
                row[f"{name} best"] = int(place in line.choice.columns)
        yield row
    if any(table.overall):
        row = {**shared, "of": MEAN, "outcome": table.choice.outcome}
        for place, (name, found) in enumerate(zip(table.names, table.overall, strict=True)):
            row |= _ends(f"{name} ratio", found.ratio.estimate, " ") if found else {}
            row[f"{name} best"] = int(place in table.choice.columns)
        yield row


def _ends(name: str, of: Estimate, link: str = "_") -> dict[str, Any]:
    """A number and the ends of its interval, as columns; what is not known is empty."""
    words = (name, f"{name}{link}low", f"{name}{link}high")
    return {word: plain(value) for word, value in zip(words, of, strict=True)}
