# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Clock rates that may change, where times do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import percent
from mpigauge.products.explain.needs import REPEATED, machine, samples
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY
from mpigauge.result.stats.remarks import name_cells

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView

CHANGING = ("drift", "bimodal")
LEAST_SHARE = 0.1


@cause(
    "frequency",
    "clock rates that change while it is measured",
    machine,
    samples,
    of=ANY,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    """A governor alone is nothing to see: it is named where times change too."""
    slow = slow_governors(view)
    changing = [row for row in view.rows if set(CHANGING) & set(row.flags)]
    share = len(changing) / len(view.rows)
    if slow and share >= LEAST_SHARE:
        yield Finding(
            what=f"{percent(share)} of the rows change while they are measured "
            f"({name_cells(changing)})",
            likely="the clock rate of the cores follows their load",
            evidence=(f"the frequency governor is {' and '.join(slow)}, not performance",),
            rows=tuple(changing),
            attempts=(
                "`sudo cpupower frequency-set -g performance`, or --cpu-freq=performance of srun",
                "if that changes nothing: heat, or other programs (`mpigauge doctor`)",
            ),
        )


def slow_governors(view: RunView) -> list[str]:
    """Governors that do not hold the clock rate up."""
    governors = view.machine.get("governors") or ()
    return [name for name in governors if name != "performance"]
