# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A step of the time where messages stop to be sent ahead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.products.explain.needs import REPEATED, sizes
from mpigauge.products.explain.registry import cause
from mpigauge.products.explain.steps import finding, steps
from mpigauge.result.finding import Finding
from mpigauge.result.nature import SENDING
from mpigauge.result.words import settings

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause(
    "rendezvous",
    "a step of the time where messages stop to be sent ahead",
    sizes,
    of=SENDING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    for group in steps(view, "eager"):
        knobs = [name for step in group for name in step.reason.knobs]
        yield finding(
            view,
            group,
            "from eager to rendezvous: longer messages wait until the receiver has answered",
            "nothing in the run proves it: no limit is known to lie there",
            (
                settings(knobs),
                (
                    "a larger limit helps messages that are expected, and takes memory for others: "
                    "measure your own sizes"
                ),
            ),
        )
