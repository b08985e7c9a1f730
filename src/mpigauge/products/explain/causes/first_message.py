# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A first message that takes far longer than the next ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import duration
from mpigauge.products.explain.needs import REPEATED, samples
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import MOVING
from mpigauge.result.settings import existing
from mpigauge.result.stats.remarks import name_cells
from mpigauge.result.words import factor, settings, time

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import RunView

LEAST_RATIO, LEAST_S = 4.0, 10e-6
"""Short of this it is caches that hold other data, which all machines know."""


@cause(
    "first-message",
    "a first message that takes far longer than the next ones",
    samples,
    of=MOVING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    slow = [row for row in view.rows if _ratio(row) >= LEAST_RATIO and _more_s(row) >= LEAST_S]
    if not slow:
        return
    worst = max(slow, key=_more_s)
    first = worst.cell.time_first_s * worst.cell.time_scale
    yield Finding(
        what=f"{name_cells(slow)}: the first call after other work takes up to "
        f"{duration(_more_s(worst))} longer than the next ones",
        likely=_likely(view, worst),
        evidence=(
            (
                f"{worst.cell_name}: {duration(first)} at first "
                f"(median over visits), then {time(worst)}: {factor(_ratio(worst))}"
            ),
        ),
        attempts=(
            "a message of each size before the part that counts",
            "the same buffers for all messages",
            *filter(None, [settings(_knobs(view, worst))]),
        ),
        rows=tuple(slow),
    )


def _likely(view: RunView, row: Row) -> str:
    if view.where(row) == "node":
        return "memory is shared between the ranks, or pages are given by the kernel, at first use"
    return (
        "connections are made, memory is registered with the network card, or pages are given by "
        "the kernel at first use"
    )


def _knobs(view: RunView, row: Row) -> list[str]:
    """Connections are made at start, and memory stays registered: both are about networks."""
    if view.where(row) == "node":
        return []
    return existing(view, "OMPI_MCA_mpi_preconnect_mpi", "OMPI_MCA_mpi_leave_pinned")


def _ratio(row: Row) -> float:
    return row.cell.time_first_s / row.cell.time_p50_s


def _more_s(row: Row) -> float:
    return (row.cell.time_first_s - row.cell.time_p50_s) * row.cell.time_scale
