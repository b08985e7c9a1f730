# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What stands above a table of rows, and words that several tables share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.model.column_facts import USUAL, heading_word
from mpigauge.model.units import many

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.model.row_tables import RowTable


def title(table: RowTable, without: str = "") -> str:
    """`without`: a column that is not the same of all rows."""
    first = table.rows[0].cell
    words = [table.card.word, *([] if without == "ranks" else [_ranks(table)])]
    words += [first.datatype] if first.datatype and first.message_bytes >= 0 else []
    words += [first.op] if first.op else []
    words += [heading_word("inflight", first.inflight)] if table.card.windowed else []
    started = first.sync not in ("", USUAL["sync"]) and not first.source
    words += [heading_word("sync", first.sync)] if started else []
    words += [heading_word(name, v) for name, v in table.variant.items() if name != without]
    over = {resting_on(row) for row in table.rows}
    return " · ".join(words + (list(over) if len(over) == 1 else []))


def _ranks(table: RowTable) -> str:
    groups = f"{table.groups} groups of " if table.groups > 1 else ""
    ranks = table.ranks or "?"  # some programs do not print it
    return f"{groups}{many(ranks, 'rank')}"


def resting_on(row: Row) -> str:
    """What the interval rests on."""
    if row.kind == "one launch":
        return "1 launch"
    return f"range of {row.launches}" if row.kind == "range" else f"{row.launches} launches"


def as_printed(value: float, decimals: int) -> str:
    """A number of another program with as many decimals as it prints; nothing where it has none."""
    return "" if math.isnan(value) else f"{value:.{decimals}f}"
