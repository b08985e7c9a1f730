# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Sentences on how far the numbers of a run can be trusted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mpigauge.model.units import capitalized, many
from mpigauge.result.stats.remarks import name_cells, outside_rows, outside_sentence, wrong_data

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.row import Row
    from mpigauge.result.stats.changes import Change

SURE = 0.05
"""Numbers with no wider an interval count as precise."""


def how_sure(all_rows: Sequence[Row]) -> Iterator[str]:
    """Sentences on the errors of these numbers; none: there are no numbers. The last one is the
    most important."""
    rows = [row for row in all_rows if math.isfinite(row.relative_error)]
    if all_rows and not rows:
        yield "The errors of these numbers are not known: which of them differ is unknown."
    if not rows:
        return
    if all(row.is_range for row in rows):
        yield (
            "There are too few launches for an error: numbers carry the range of their "
            "launches (six or more give an interval)."
        )
        return
    sure = sum(row.relative_error <= SURE and not row.is_range for row in rows)
    widest = max(rows, key=lambda row: row.relative_error)
    within = f"{sure} of {many(len(rows), 'number')} are known within ±{100 * SURE:g} %"
    yield f"{within}; the least certain is {widest.cell_name}, {widest.error_words}."
    if all(row.kind == "one launch" for row in rows):
        yield "All are of one launch: ± does not cover other launches (--launches 6)."


def trust(rows: Sequence[Row], change: Change | None) -> str:
    """One sentence on how far to trust these numbers. Wrong data, a change of the machine, and
    times that earlier runs have not shown count more than errors. Empty: there are no numbers."""
    wrong = [row for row in rows if row.wrong_count]
    if wrong:
        count = sum(row.wrong_count for row in wrong)
        return f"Do not trust these numbers: {wrong_data(count)}, in {name_cells(wrong)}."
    if change:
        launches = change.before + change.after
        return (
            f"The machine changed from launch {change.before + 1} of {launches} on: calls took "
            f"{change.ratio:.2f} times as long, and ± is of both states together."
        )
    outside = outside_rows(rows)
    if 2 * len(outside) > len(rows):
        return capitalized(outside_sentence(outside, len(rows)))
    return next(reversed(list(how_sure(rows))), "")
