# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Longer messages that take less time than shorter ones.

A library could always send the shorter message as a longer one (J. L. Träff, W. Gropp, R. Thakur,
Self-consistent MPI performance guidelines, IEEE TPDS 21 (2010) 698).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.products.explain.needs import REPEATED
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import MOVING
from mpigauge.result.stats.remarks import name_cells
from mpigauge.result.words import factor, size, time

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import Curve, RunView

LEAST_RATIO = 1.25


@cause(
    "not-monotonic",
    "longer messages that take less time than shorter ones",
    of=MOVING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    curves, slow, rows, lost = [], [], [], []
    for curve in view.curves:
        for row, best in _slower_than_longer(curve):
            curves.append((_ratio(row, best), curve, row, best))
            slow.append(row)
            rows += [row, best]
            lost.append(1 - 1 / _ratio(row, best))
    if not slow:
        return
    ratio, curve, worst, longer = max(curves, key=lambda each: each[0])
    yield Finding(
        what=f"{curve.label}: {size(worst)} takes {factor(ratio)} the time of {size(longer)}",
        likely="another way is taken for shorter messages, and it is the worse one here: a limit "
        "of the MPI that is not right for this machine; or the first sizes were measured while "
        "something was still starting",
        evidence=(
            f"{size(worst)}: {time(worst)}; {size(longer)}: {time(longer)}",
            f"slower than some longer message: {name_cells(slow)}",
        ),
        attempts=(
            f"`mpigauge model {view.run_word} {curve.benchmark}` names breaks and what moves them",
            "measure these sizes again, alone (--sizes)",
        ),
        rows=tuple(rows),
        cost=view.cost(lost),
    )


def _slower_than_longer(curve: Curve) -> list[tuple[Row, Row]]:
    """Each row that is slower than a longer one beyond both errors, with the fastest of these."""
    pairs = []
    for row in curve.rows:
        behind = curve.behind(row.message_bytes)
        best = min(behind, key=lambda each: each.latency.value, default=None)
        if best is not None and _ratio(row, best) >= LEAST_RATIO and _apart(row, best):
            pairs.append((row, best))
    return pairs


def _ratio(row: Row, longer: Row) -> float:
    return row.latency.value / longer.latency.value


def _apart(row: Row, longer: Row) -> bool:
    """Intervals that are not known do not stand against it."""
    return not row.latency.low <= longer.latency.high
