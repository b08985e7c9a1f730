# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A step of the time where messages no longer fit beside their header."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.products.explain.needs import REPEATED, sizes
from mpigauge.products.explain.registry import cause
from mpigauge.products.explain.steps import finding, steps
from mpigauge.result.finding import Finding
from mpigauge.result.nature import SENDING

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause(
    "header",
    "a step of the time where messages no longer fit beside their header",
    sizes,
    of=SENDING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    for group in steps(view, "inline"):
        after = group[0].at.before_bytes
        yield finding(
            view,
            group,
            "short messages travel with their header, in one line of the cache or one packet; "
            "longer ones need a buffer or a copy more",
            "nothing in the run proves it",
            (
                f"messages of {after} B or less where many are sent: halves, or shorter types",
                "another transport (`mpigauge mpi transports`): each has its own limit",
            ),
        )
