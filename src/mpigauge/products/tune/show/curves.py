# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Compares the default and the tuned settings by size, in the launches that confirmed them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.units import byte_count, duration, many
from mpigauge.products.tune.decide.choose import judge
from mpigauge.products.tune.decide.grid import DEFAULT
from mpigauge.products.tune.plan import TUNED
from mpigauge.products.tune.result import Of, as_ranks_come, grids
from mpigauge.result.run_view import RunView
from mpigauge.runs.store import load
from mpigauge.runs.store.tunings import RUNS
from mpigauge.show.tables.text_table import text_table

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.products.tune.decide.grid import Grid

CONFIRMING = ("p2p-confirm", "confirm")
"""The runs in which the default and the tuned settings alternate."""
HEADS = ("size", "default", "±", "tuned", "±", "tuned / default")
_MARGIN = "  "


def curve_lines(folder: Path) -> Iterator[str]:
    """Yields a table for each confirmed benchmark; none if the runs are gone. Times are medians of
    launches, the ratio is the geometric mean of rounds with its 95 % interval."""
    for name in CONFIRMING:
        path = folder / RUNS / name
        if not (path / "run.json").is_file():
            continue
        stored = load(path)
        view = RunView.of(stored)
        kept = {id(cell) for cell in as_ranks_come([row.cell for row in view.rows])}
        rows = [row for row in view.rows if id(row.cell) in kept]
        for of, grid in grids(stored).items():
            if TUNED in grid.arms:
                yield ""
                yield _heading(of, grid)
                yield from _table(of, grid, rows)


def _heading(of: Of, grid: Grid) -> str:
    benchmark, ranks = of
    rounds = many(len(grid.launches), "round")
    return f"{benchmark}, {many(ranks, 'rank')}, {rounds} of fresh launches:"


def _table(of: Of, grid: Grid, rows: Sequence[Row]) -> Iterator[str]:
    by_arm: dict[str, dict[int, Row]] = {DEFAULT: {}, TUNED: {}}
    for row in rows:
        if (row.benchmark, row.ranks) == of and row.cell.arm in by_arm:
            by_arm[row.cell.arm][row.message_bytes] = row
    table = [_line(size, grid, by_arm) for size in grid.sizes]
    for line in text_table(HEADS, [each for each in table if each], width=0):
        yield f"{_MARGIN}{line}"


def _line(size: int, grid: Grid, by_arm: Mapping[str, Mapping[int, Row]]) -> Sequence[str]:
    """Returns the cells of one size; none if the default or the tuned arm has no row."""
    default, tuned = by_arm[DEFAULT].get(size), by_arm[TUNED].get(size)
    if default is None or tuned is None:
        return ()
    (judged,) = judge(grid, [(TUNED, (size,))])
    ratio = judged.ratio
    return (
        byte_count(size),
        duration(default.latency.value),
        default.error_words,
        duration(tuned.latency.value),
        tuned.error_words,
        f"{ratio.value:.2f}, {ratio.low:.2f} to {ratio.high:.2f}",
    )
