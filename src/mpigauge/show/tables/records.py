# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Flat records for programs, as CSV and as JSON: what is not known is empty, or null."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mpigauge.model.fields import plain
from mpigauge.model.spreadsheet import csv_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def with_nulls(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with None in place of what is not known."""
    return {name: plain(value) for name, value in record.items()}


def as_json(data: Any) -> str:
    """Text with a newline at its end. ValueError: a number in it is not finite."""
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(records: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> str:
    """A line for each record; lists are joined by semicolons. `columns`: their names; None: all
    that any record has, in the order in which they first appear."""
    if columns is None:
        columns = list(dict.fromkeys(name for record in records for name in record))
    return csv_text([columns, *([each.get(name) for name in columns] for each in records)])
