# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The samples of cells for a page: packed, so that each is unfolded when somebody asks for it."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.model.errors import UserError
from mpigauge.show.plots.samples import of_cell, stored_samples

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_result import RunResult

MOST_CELLS = 400
"""A cell takes about 3 KB of the page."""


class CellOnPage(NamedTuple):
    title: str
    words: str
    svg: str


def cells_of(shown: RunResult) -> tuple[list[CellOnPage], list[str]]:
    """Cells whose samples are stored, in the order of rows; and what is said of those left out,
    which are damaged, or beyond the largest number, the best known first."""
    records = stored_samples(shown.run)
    rows = [row for row in shown.document.rows if row.key in records]
    kept = {row.key for row in sorted(rows, key=_least_known)[:MOST_CELLS]}
    cells, notes = [], []
    for row in rows:
        if row.key in kept:
            try:
                drawn = of_cell(shown.run, row, records[row.key])
                cells.append(CellOnPage(drawn.title, drawn.about, drawn.svg))
            except UserError as damaged:
                notes.append(f"{damaged}; they are left out.")
    if left := len(rows) - len(kept):
        notes.append(
            f"The {len(kept)} cells with the largest errors are here; `mpigauge plot RUN samples "
            f"--benchmark NAME --size SIZE` draws the other {left}."
        )
    return cells, notes


def packed(data: Any) -> str:
    """JSON, compressed, in letters."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _least_known(row: Row) -> float:
    """A sort key: the largest error first; one that is not known counts as the largest."""
    error = row.relative_error
    if error == error:
        return -error
    return -float("inf")
