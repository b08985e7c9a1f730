# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hosts of one switch that get less than others, though not alone."""

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
    "unfair-switch",
    "hosts of one switch that get less than others, though not alone",
    of=SENDING,
    sure_from=FACT,
)
def look(view: RunView) -> Iterator[Finding]:
    likely = "the switch serves some of its ports less than others, or is itself too slow"
    attempts = (
        "the settings of queues and priorities of the switch",
        "its firmware",
    )
    yield from faults(view, ("switch",), likely, attempts)
