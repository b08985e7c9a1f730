# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A step of the time where a collective takes another algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.products.explain.needs import REPEATED, sizes
from mpigauge.products.explain.registry import cause
from mpigauge.products.explain.steps import finding, steps
from mpigauge.result.finding import Finding
from mpigauge.result.nature import COLLECTIVE
from mpigauge.result.words import settings

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause(
    "algorithm",
    "a step of the time where a collective takes another algorithm",
    sizes,
    of=COLLECTIVE,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    for group in steps(view, "algorithm"):
        knobs = [name for step in group for name in step.reason.knobs]
        yield finding(
            view,
            group,
            "from this size on the MPI takes another algorithm, and it is slower here at first",
            "nothing in the run proves it; messages inside of it may step too",
            (
                settings(knobs),
                f"`mpigauge model {view.run_word} {group[0].curve.benchmark}` shows its pieces",
            ),
        )
