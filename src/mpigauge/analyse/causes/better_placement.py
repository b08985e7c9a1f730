# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A default placement that another one beats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.analyse.causes.better_setting import told
from mpigauge.analyse.finding import Finding
from mpigauge.analyse.nature import ANY
from mpigauge.analyse.needs import REPEATED, launches, placements
from mpigauge.analyse.registry import cause
from mpigauge.analyse.rivals import rivals

if TYPE_CHECKING:
    from mpigauge.analyse.seen import Seen


@cause(
    "better-placement",
    "a default placement that another one beats",
    placements,
    launches,
    of=ANY,
    sure_from=REPEATED,
)
def look(seen: Seen) -> Iterator[Finding]:
    for best in rivals(seen.rows, "placement")[:1]:
        attempts = (f"--place {best.name}; `mpigauge topo` shows which cores that are",)
        yield told(seen, best, f"placed by {best.name}", attempts)
