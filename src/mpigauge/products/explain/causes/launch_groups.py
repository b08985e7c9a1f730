# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Launches that fall into two groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import duration
from mpigauge.products.explain.causes.noise import is_loud
from mpigauge.products.explain.needs import REPEATED, launches
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY
from mpigauge.result.stats.launches import in_two_groups
from mpigauge.result.stats.remarks import name_cells
from mpigauge.result.words import factor

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import RunView

LEAST, LEAST_SHARE = 1.2, 0.02
"""Six launches that scatter by a few percent now and then fall into two groups by chance."""


@cause("launch-groups", "launches that fall into two groups", launches, of=ANY, sure_from=REPEATED)
def look(view: RunView) -> Iterator[Finding]:
    rows = [row for row in view.rows if in_two_groups(row.values_s) and _ratio(row) > LEAST]
    if len(rows) > LEAST_SHARE * len(view.rows):
        yield _finding(view, rows)


def _finding(view: RunView, rows: list[Row]) -> Finding:
    worst = max(rows, key=_ratio)
    low, high = min(worst.values_s), max(worst.values_s)
    return Finding(
        what=f"{name_cells(rows)}: launches fall into two groups, up to {factor(high / low)} apart",
        likely=_likely(view, rows),
        evidence=(f"{worst.cell_name}: a call took {duration(low)} to {duration(high)} by launch",),
        attempts=(
            "a quieter hour, with as many launches",
            "more launches (--launches): the median of few may be of either group",
        ),
        rows=tuple(rows),
        cost=view.cost(1 - min(row.values_s) / row.cell.time_p50_s for row in rows),
    )


def _likely(view: RunView, rows: list[Row]) -> str:
    if is_loud(view):
        return "others took a part of the cores in some launches and not in others"
    decided = "something is decided once for each launch: where memory lies"
    if any(view.where(row) == "network" for row in rows):
        return f"{decided}, or which path through the network a launch gets"
    return decided


def _ratio(row: Row) -> float:
    """The slowest launch by the fastest; 1 where a launch has no time: then nothing can be
    compared."""
    least = min(row.values_s)
    if not least > 0:
        return 1.0
    return max(row.values_s) / least
