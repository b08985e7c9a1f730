# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A step of the time where messages are moved in another way: in pieces, or copied in one go."""

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
    "another-way",
    "a step of the time where messages go in pieces, or in one copy",
    sizes,
    of=SENDING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    for group in steps(view, "segment", "single copy"):
        knobs = [name for step in group for name in step.reason.knobs]
        yield finding(
            view,
            group,
            "from this size on messages are moved in another way, and it is slower here at first",
            "the run does not show whether that setting acts where its ranks were",
            (settings(knobs), "measure the sizes that you send: the best limit is your own"),
        )
