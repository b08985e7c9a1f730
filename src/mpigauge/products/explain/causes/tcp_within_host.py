# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""TCP within a host, where ranks could share memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.transport import WITHIN
from mpigauge.products.explain.causes.tcp import signs_of_tcp
from mpigauge.products.explain.needs import FACT, seats
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import MOVING
from mpigauge.result.words import time

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause(
    "tcp-within-host",
    "TCP within a host, where ranks could share memory",
    seats,
    of=MOVING,
    sure_from=FACT,
)
def look(view: RunView) -> Iterator[Finding]:
    named = signs_of_tcp(view, WITHIN)
    within = [row for row in view.rows if len({rank.host for rank in view.ranks_of(row)}) == 1]
    if named and within:
        shortest = min(within, key=lambda row: row.latency.value)
        yield Finding(
            what="messages within a host go over TCP, and not through shared memory",
            likely="it was asked for, by an option, in the environment or in a file of the MPI",
            evidence=(*named, f"{shortest.cell_name} takes {time(shortest)}, the shortest of all"),
            attempts=(
                "the same run without it; `mpigauge mpi transports` shows how memory is shared",
            ),
        )
