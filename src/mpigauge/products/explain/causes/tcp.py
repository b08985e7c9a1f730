# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""TCP between hosts, where there is a fast card."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.transport import BETWEEN
from mpigauge.model.units import first_few
from mpigauge.products.explain.needs import REPEATED, machine, seats
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import MOVING
from mpigauge.result.words import time

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import RunView

SLOW_S = 8e-6
"""Half round trips of short messages between hosts take one to four µs over cards that MPI
libraries have drivers for, and ten and more over TCP."""
SHORT = 64
_SELECTING = ("OMPI_MCA_btl", "FI_PROVIDER", "UCX_TLS", "I_MPI_OFI_PROVIDER")
_ROUND_TRIPS = ("PingPong", "PingPongSpecificSource", "PingPongAnySource")


@cause(
    "tcp",
    "TCP between hosts where there is a fast card",
    seats,
    machine,
    of=MOVING,
    sure_from=REPEATED,
)
def look(view: RunView) -> Iterator[Finding]:
    cards = _cards(view)
    hosts = {rank.host for rank in view.run.ranks}
    if not cards or len(hosts) < 2:
        return
    named, slow = signs_of_tcp(view, BETWEEN), _slow(view)
    silent = not view.transport and BETWEEN not in view.run.used
    evidence = list(named)
    if slow:
        evidence.append(f"{slow.cell_name} takes {time(slow)}")
    if named:
        what = "messages between hosts go over TCP"
        likely = (
            "the MPI does not use the card: its driver is not in this build, or a setting keeps "
            "it away"
        )
        rows: tuple[Row, ...] = ()
    elif slow and silent:
        what = "short messages between hosts are as slow as TCP"
        likely = "messages go over TCP; the run does not name their transport"
        rows = (slow,)
    else:
        return
    yield Finding(
        what=f"{what}, beside the card {first_few(cards)}",
        likely=likely,
        rows=rows,
        evidence=tuple(evidence),
        attempts=(
            "`mpigauge mpi transports` lists the transports of this MPI; --transport tests one",
            "an MPI that is built with UCX or with libfabric's provider for the card",
        ),
    )


def _cards(view: RunView) -> list[str]:
    """The fast cards of its hosts."""
    names: list[str] = []
    for topology in view.topologies.values():
        names += [device.name for device in topology.devices if device.fabric]
    return names


def signs_of_tcp(view: RunView, where: str) -> list[str]:
    """The evidence that messages, or those that go `where`, use TCP alone: the transport of the
    run, the reports of its launches, or settings."""
    signs = []
    if "tcp" in view.transport:
        signs.append(f"the transport of the run is {view.transport}")
    elif any(_is_told(piece, where) for piece in view.run.used.split(", ")):
        signs.append(f"the MPI reports that it uses {view.run.used}")
    for name in _SELECTING:
        if _is_tcp(view.settings.get(name, "")):
            signs.append(f"{name}={view.settings[name]} is set")
    return signs


def _is_told(piece: str, where: str) -> bool:
    """A provider is told of for other hosts; within one, memory may be shared beside it."""
    return "tcp" in piece and (piece.endswith(where) or (where == BETWEEN and "provider" in piece))


def _is_tcp(value: str) -> bool:
    """A list with nothing beside TCP and the rank itself."""
    return set(value.lower().split(",")) in ({"tcp"}, {"tcp", "self"})


def _slow(view: RunView) -> Row | None:
    """The slowest short round trip between hosts, where it is as slow as TCP."""
    slow = [row for row in view.rows if _is_short(row) and row.latency.value > SLOW_S]
    between = [row for row in slow if view.where(row) == "network"]
    return max(between, key=lambda row: row.latency.value, default=None)


def _is_short(row: Row) -> bool:
    return row.cell.benchmark in _ROUND_TRIPS and 0 <= row.message_bytes <= SHORT
