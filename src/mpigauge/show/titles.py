# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The titles of tables of rows, and words that several tables share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.model.column_facts import USUAL, heading_word
from mpigauge.model.units import dotted, many
from mpigauge.result.nature import own_neighbour

if TYPE_CHECKING:
    from collections.abc import Collection

    from mpigauge.model.row import Row
    from mpigauge.model.row_tables import RowTable


LAUNCHES = "launches"
"""Stands for what intervals rest on, where columns are named."""


def title(table: RowTable, without: Collection[str] = ()) -> str:
    """The title of a table. `without`: columns that differ between its rows."""
    first = table.rows[0].cell
    words = [table.card.word]
    if "ranks" not in without:
        words.append(_ranks(table))
    words.append(own_neighbour(table.rows[0]))
    if first.message_bytes >= 0:
        words.append(first.datatype)
    words.append(first.op)
    if table.card.windowed:
        words.append(heading_word("inflight", first.inflight))
    if first.sync not in ("", USUAL["sync"]) and not first.source:
        words.append(heading_word("sync", first.sync))
    for name, value in table.variant.items():
        if name not in without:
            words.append(heading_word(name, value))
    over = {resting_on(row) for row in table.rows}
    if len(over) == 1 and LAUNCHES not in without:
        words += over
    return dotted(*words)


def _ranks(table: RowTable) -> str:
    ranks = many(table.ranks or "?", "rank")  # some programs do not print it
    if table.groups > 1:
        return f"{table.groups} groups of {ranks}"
    return ranks


def resting_on(row: Row) -> str:
    """The launches that the interval of a row rests on."""
    if row.kind == "one launch":
        return "1 launch"
    if row.kind == "range":
        return f"range of {row.launches}"
    return f"{row.launches} launches"


def as_printed(value: float, decimals: int) -> str:
    """A number of another program with as many decimals as it prints; nothing where it has none."""
    if math.isnan(value):
        return ""
    return f"{value:.{decimals}f}"
