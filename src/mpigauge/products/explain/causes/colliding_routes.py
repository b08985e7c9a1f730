# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pairs that are slow in one permutation only."""

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
    "colliding-routes", "pairs that are slow in one permutation only", of=SENDING, sure_from=FACT
)
def look(view: RunView) -> Iterator[Finding]:
    likely = "their routes share a link, while others are idle"
    attempts = (
        "adaptive routing, if the network has it",
        "another routing algorithm of the subnet manager",
    )
    yield from faults(view, ("collision",), likely, attempts)
