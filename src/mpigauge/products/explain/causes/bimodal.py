# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Samples that fall into two groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import duration
from mpigauge.products.explain.needs import REPEATED, samples
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY, CALLING, nature_of
from mpigauge.result.stats.launches import in_two_groups
from mpigauge.result.stats.remarks import name_cells

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import RunView


@cause("bimodal", "samples that fall into two groups", samples, of=ANY, sure_from=REPEATED)
def look(view: RunView) -> Iterator[Finding]:
    """The flag of a row may also come from its launches, which are another cause."""
    flagged = [row for row in view.rows if "bimodal" in row.flags]
    rows = [row for row in flagged if not in_two_groups(row.values_s)]
    if rows:
        yield _finding(view, rows)


def _finding(view: RunView, rows: list[Row]) -> Finding:
    worst = max(rows, key=_spread)
    cell = worst.cell
    likely = "two states take turns while it is measured: clock rates, another program"
    attempts = ["`mpigauge doctor`: governor, turbo, load and noise"]
    if any(nature_of(row).does in CALLING for row in rows):
        likely += ", or two ways through the MPI"
        attempts.append("--cache cold, to see whether it is the caches")
    return Finding(
        what=f"{name_cells(rows)}: the samples of a launch fall into two groups",
        likely=likely,
        evidence=(
            (
                f"{worst.cell_name}: 1 % of the samples are below "
                f"{duration(cell.time_p01_s)}, 1 % above {duration(cell.time_p99_s)}, the median "
                f"is {duration(cell.time_p50_s)}"
            ),
        ),
        attempts=tuple(attempts),
        rows=tuple(rows),
        cost=view.cost(1 - row.cell.time_p01_s / row.cell.time_p50_s for row in rows),
    )


def _spread(row: Row) -> float:
    return (row.cell.time_p99_s - row.cell.time_p01_s) / row.cell.time_p50_s
