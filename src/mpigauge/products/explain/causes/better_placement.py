# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A default placement that another one beats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.products.explain.causes.better_setting import finding_of
from mpigauge.products.explain.needs import REPEATED, launches, placements
from mpigauge.products.explain.registry import cause
from mpigauge.products.explain.rivals import rivals
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause(
    "better-placement",
    "a default placement that another one beats",
    placements,
    launches,
    of=ANY,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    for best in rivals(view.rows, "placement")[:1]:
        attempts = (f"--place {best.name}; `mpigauge topo` shows which cores that are",)
        yield finding_of(view, best, f"placed by {best.name}", attempts)
