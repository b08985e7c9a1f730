# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One line for each row; units are in the names, lists are joined by semicolons."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from mpigauge.model.fields import fields, values
from mpigauge.model.screen import PLAIN
from mpigauge.show.limits import limit_fields

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document

ABOUT = "a line for each row, SI units, for spreadsheets"


def render(document: Document, screen: Screen = PLAIN) -> str:  # noqa: ARG001
    text = io.StringIO()
    columns = (*fields(), *limit_fields(document.limits))
    writer = csv.DictWriter(text, [column.name for column in columns], lineterminator="\n")
    writer.writeheader()
    for row in document.rows:
        writer.writerow({name: _word(value) for name, value in values(row, columns).items()})
    return text.getvalue()


def _word(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return ";".join(map(str, value)) if isinstance(value, list) else value
