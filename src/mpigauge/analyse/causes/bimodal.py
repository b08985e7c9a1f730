# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Times that fall into two groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.analyse.causes.noise import is_loud
from mpigauge.analyse.finding import Finding
from mpigauge.analyse.needs import samples
from mpigauge.analyse.registry import cause
from mpigauge.analyse.words import cell_name, factor
from mpigauge.model.units import duration
from mpigauge.stats.launches import in_two_groups
from mpigauge.stats.words import name_cells

if TYPE_CHECKING:
    from mpigauge.analyse.seen import Seen
    from mpigauge.model.row import Row

LEAST = 1.2
"""Six launches that scatter by a few percent now and then fall into two groups by chance."""


@cause("bimodal", "times that fall into two groups, over samples or over launches", samples)
def look(seen: Seen) -> Iterator[Finding]:
    """The flag of a row may come from either."""
    apart = {row.key: in_two_groups(row.values_s) for row in seen.rows}
    launches = [row for row in seen.rows if apart[row.key] and _ratio(row) > LEAST]
    samples_of = [row for row in seen.rows if "bimodal" in row.flags and not apart[row.key]]
    if launches:
        yield _of_launches(seen, launches)
    if samples_of:
        yield _of_samples(seen, samples_of)


def _of_launches(seen: Seen, rows: list[Row]) -> Finding:
    worst = max(rows, key=_ratio)
    low, high = min(worst.values_s), max(worst.values_s)
    return Finding(
        what=f"{name_cells(rows)}: launches fall into two groups, up to {factor(high / low)} apart",
        likely="others took a part of the cores in some launches and not in others"
        if is_loud(seen)
        else "something is decided once for each launch: where memory lies, which cores or which "
        "path through the network a launch gets",
        evidence=(
            f"{cell_name(worst)}: a call took {duration(low)} to {duration(high)} by launch",
        ),
        attempts=(
            "fixed cores (--place cores:…) and huge pages, each alone, with as many launches",
            "more launches (--launches): the median of few may be of either group",
        ),
        cost=seen.cost(1 - min(row.values_s) / row.cell.time_p50_s for row in rows),
    )


def _ratio(row: Row) -> float:
    return max(row.values_s) / min(row.values_s)


def _of_samples(seen: Seen, rows: list[Row]) -> Finding:
    worst = max(rows, key=lambda row: row.cell.time_p99_s / row.cell.time_p01_s)
    cell = worst.cell
    return Finding(
        what=f"{name_cells(rows)}: the samples of a launch fall into two groups",
        likely="two states take turns while it is measured: clock rates, another program, or two "
        "ways through the library",
        evidence=(
            (
                f"{cell_name(worst)}: 1 % of the samples are below "
                f"{duration(cell.time_p01_s)}, 1 % above {duration(cell.time_p99_s)}, the median "
                f"is {duration(cell.time_p50_s)}"
            ),
        ),
        attempts=(
            "`mpigauge doctor`: governor, turbo, load and noise",
            "--data fresh or --cache cold, to see whether it is the caches",
        ),
        cost=seen.cost(1 - row.cell.time_p01_s / row.cell.time_p50_s for row in rows),
    )
