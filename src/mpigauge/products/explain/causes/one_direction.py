# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Exchanges between hosts whose two directions pass one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING

from mpigauge.model.columns import KEY_COLUMNS
from mpigauge.model.transport import BETWEEN
from mpigauge.products.explain.causes.tcp import signs_of_tcp
from mpigauge.products.explain.needs import REPEATED, seats
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import SENDING
from mpigauge.result.words import factor, size, time

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import RunView

LONG = 64 << 10
"""The bytes from which a link takes longer than its latency."""
IN_TURN = 1.8
"""The ratio of an exchange to one message at which its directions pass in turn: it would be 2. At
the same time it is little more than 1."""
_PROTOCOLS = "OMPI_MCA_btl_tcp_flags"
_ALIKE = tuple(name for name in KEY_COLUMNS if name not in ("benchmark", "sync"))
"""Columns in which both rows are the same."""


@cause(
    "one-direction",
    "exchanges between hosts whose two directions pass in turn",
    seats,
    of=SENDING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    pairs = [row for row in view.rows if _is_long(view, row)]
    one_way = {_key(row): row for row in pairs if row.benchmark == "PingPong"}
    slow = [
        row
        for row in pairs
        if row.benchmark == "Sendrecv" and _is_slow(row, one_way.get(_key(row)))
    ]
    if not slow:
        return
    ratios = ((row.latency.value / one_way[_key(row)].latency.value, row) for row in slow)
    ratio, worst = max(ratios, key=itemgetter(0))
    likely = "a link that is half duplex, or a core that copies both directions"
    attempts = ["the duplex mode of the network cards, as `ethtool` shows it"]
    is_chosen = _PROTOCOLS in view.settings_of(worst)
    if view.mpi_name == "openmpi" and signs_of_tcp(view, BETWEEN) and not is_chosen:
        likely = "the put protocol by which Open MPI's TCP moves long messages"
        attempts.insert(0, "`--set btl_tcp_flags=1`, with which it only sends")
    yield Finding(
        what=f"exchanges between hosts take up to {factor(ratio)} the time of one message",
        likely=likely,
        evidence=(
            f"Sendrecv {size(worst)} takes {time(worst)}",
            f"a message of PingPong takes {time(one_way[_key(worst)])}",
        ),
        attempts=tuple(attempts),
        rows=tuple(slow),
    )


def _is_long(view: RunView, row: Row) -> bool:
    """True for long messages between two hosts; within one, a core may copy both directions."""
    hosts = {rank.host for rank in view.ranks_of(row)}
    return row.ranks == 2 and row.message_bytes >= LONG and len(hosts) == 2


def _key(row: Row) -> tuple[object, ...]:
    return tuple(getattr(row.cell, name) for name in _ALIKE)


def _is_slow(exchange: Row, message: Row | None) -> bool:
    """True if an exchange takes as long as two messages, by its interval."""
    return message is not None and exchange.latency.low >= IN_TURN * message.latency.high
