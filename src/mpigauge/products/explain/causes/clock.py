# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Times that the clock is too coarse or too unsure for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import duration
from mpigauge.products.explain.needs import FACT, samples
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY, COLLECTIVE, nature_of
from mpigauge.result.stats.remarks import name_cells

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import RunView

FLAGS = ("clock", "sync")
LEAST_SHARE = 0.1


@cause(
    "clock", "times that the clock is too coarse or too unsure for", samples, of=ANY, sure_from=FACT
)
def look(view: RunView) -> Iterator[Finding]:
    unsure = [row for row in view.rows if _is_unsure(row)]
    if not unsure:
        return
    error = max(row.cell.sync_error_s for row in unsure)
    evidence = []
    attempts = ["a machine whose kernel trusts its time stamp counter (`mpigauge doctor clock`)"]
    if view.run.launches:
        clock = view.run.launches[0].clock
        evidence.append(f"a reading of the clock {clock.name} costs {duration(clock.cost_s)}")
    likely = "the common clock of the ranks is known less well than these operations need"
    if error == 0:
        likely = "the operation takes about as long as a reading of the clock"
    else:
        evidence.append(f"ranks agree on the time within {duration(error)}")
    if error > 0 and any(nature_of(row).does in COLLECTIVE for row in unsure):
        attempts.append("`--sync barrier`, which needs no common clock")
    yield Finding(
        what=f"{name_cells(unsure)}: the clock is not good enough for them",
        likely=likely,
        evidence=tuple(evidence),
        attempts=tuple(attempts),
    )


def _is_unsure(row: Row) -> bool:
    """Collectives of no bytes may return at once: nobody asks how long that takes."""
    if row.message_bytes == 0:
        return False
    return (
        bool(set(FLAGS) & set(row.flags))
        or row.cell.sync_error_s > LEAST_SHARE * row.cell.time_p50_s
    )
