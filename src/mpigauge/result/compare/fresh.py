# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Fresh data against static: what of a time was data that the receiver's cache still held."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.result.compare.compare import compare, split
from mpigauge.result.compare.comparison import Comparison

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mpigauge.model.row import Row

BOTH = ("static", "fresh")


def fresh_against_static(rows: Sequence[Row], starts: Mapping[int, str]) -> Comparison | None:
    """A comparison of what was measured with both fresh and static data; None: nothing was."""
    if not {row.cell.data for row in rows} >= set(BOTH):
        return None
    sides = {side.name: side for side in split(rows, (), "data", starts)}
    comparison = compare([sides[name] for name in BOTH], varied="data", curves=False)
    # What sends no data of its own is static in any case, so that is nothing to note.
    if comparison.tables:
        return replace(comparison, left_out=())
    return None
