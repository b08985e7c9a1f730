# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Flows that leave a group and are slow, while those within it are not."""

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
    "saturated-uplink",
    "flows that leave a group and are slow, while those within it are not",
    of=SENDING,
    sure_from=FACT,
)
def look(view: RunView) -> Iterator[Finding]:
    likely = "the links between switches carry less than the hosts behind them send"
    attempts = (
        "the number and the speed of the links of the switch",
        "jobs that stay within a group (`--switches` of Slurm)",
    )
    yield from faults(view, ("uplink", "crossing"), likely, attempts)
