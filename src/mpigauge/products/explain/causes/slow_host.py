# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A host that is slow with every partner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.products.explain.fabric_faults import faults
from mpigauge.products.explain.needs import FACT
from mpigauge.products.explain.registry import cause
from mpigauge.result.nature import SENDING

if TYPE_CHECKING:
    from mpigauge.result.finding import Finding
    from mpigauge.result.run_view import RunView


@cause(
    "slow-host",
    "a host that is slow with every partner while all communicate",
    of=SENDING,
    sure_from=FACT,
)
def look(view: RunView) -> Iterator[Finding]:
    likely = "its network card, its cable, or a core that others use"
    attempts = (
        "`mpigauge doctor` on the host",
        "the link speed and the errors of its network card",
        "leave it out (--hosts), and measure again",
    )
    yield from faults(view, ("host", "tail"), likely, attempts)
