# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""CSV whose cells spreadsheets read as text or numbers, never as formulas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from typing import Any

FORMULA = r"^[=+\-@\t\r]"
"""The beginning of a cell that a spreadsheet evaluates; also used in SQL."""
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
"""Text with such a beginning that is harmless."""
TEXT_MARK = "'"
"""The character that makes a cell text."""
_FORMULA, _NUMBER = re.compile(FORMULA), re.compile(NUMBER)


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """A line for each row; lists are joined by semicolons, None is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, list):
        return _as_text(";".join(map(str, value)))
    if isinstance(value, str):
        return _as_text(value)
    return value


def _as_text(value: str) -> str:
    if _FORMULA.match(value) and not _NUMBER.match(value):
        return TEXT_MARK + value
    return value
