# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Two hosts or groups that are slow with each other alone."""

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
    "slow-link",
    "two hosts or groups that are slow with each other alone",
    of=SENDING,
    sure_from=FACT,
)
def look(view: RunView) -> Iterator[Finding]:
    likely = "a damaged cable or port on the way between them, which drops messages"
    attempts = (
        "the counters of errors on the ports between them",
        "another cable",
    )
    yield from faults(view, ("pair", "groups"), likely, attempts)
