# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hosts and links whose short messages stall while all hosts communicate."""

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
    "lost-packets",
    "hosts or links whose short messages stall",
    of=SENDING,
    sure_from=FACT,
)
def look(view: RunView) -> Iterator[Finding]:
    likely = "a damaged cable or port, or a full buffer of a switch, which drops packets"
    attempts = (
        "the counters of errors on the ports between them",
        "`nstat TcpRetransSegs` on both hosts while they communicate, if they use TCP",
        "another cable",
    )
    yield from faults(view, ("stall",), likely, attempts)
