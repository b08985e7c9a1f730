# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Early and late samples that differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import percent
from mpigauge.products.explain.causes.frequency import slow_governors
from mpigauge.products.explain.needs import REPEATED, samples
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY
from mpigauge.result.stats.remarks import name_cells

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView

LEAST_SHARE = 0.2


@cause("drift", "times that change while they are measured", samples, of=ANY, sure_from=REPEATED)
def look(view: RunView) -> Iterator[Finding]:
    """Reports drift, unless a governor may be the cause, which `frequency` reports."""
    changing = [row for row in view.rows if "drift" in row.flags]
    share = len(changing) / len(view.rows)
    if share >= LEAST_SHARE and not slow_governors(view):
        yield Finding(
            what=f"early and late samples differ in {percent(share)} of the rows "
            f"({name_cells(changing)})",
            likely="the machine changed while it was measured: heat, clock rates, or another job "
            "that came or went",
            evidence=("the medians of chunks rise or fall with time by more than chance",),
            rows=tuple(changing),
            attempts=("measure again, longer (--time), and compare; `mpigauge doctor`",),
        )
