# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One line for each row; units are in the names, lists are joined by semicolons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.fields import fields, values
from mpigauge.model.screen import PLAIN
from mpigauge.show.limits import limit_fields
from mpigauge.show.tables import records

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document

ABOUT = "a line for each row, SI units, for spreadsheets"


def render(document: Document, screen: Screen = PLAIN) -> str:  # noqa: ARG001
    columns = (*fields(), *limit_fields(document.limits))
    rows = [values(row, columns) for row in document.rows]
    return records.as_csv(rows, [column.name for column in columns])
