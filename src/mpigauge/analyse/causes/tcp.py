# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""TCP where there is a fast card, or within a host."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.analyse.finding import Finding
from mpigauge.analyse.needs import machine, seats
from mpigauge.analyse.registry import cause
from mpigauge.analyse.words import cell_name, listed, time

if TYPE_CHECKING:
    from mpigauge.analyse.seen import Seen
    from mpigauge.model.row import Row

SLOW_S = 8e-6
"""Half round trips of short messages between hosts take one to four µs over cards that MPI
libraries have drivers for, and ten and more over TCP."""
SHORT = 64
_ROUND_TRIPS = ("PingPong", "PingPongSpecificSource", "PingPongAnySource")


@cause("tcp", "TCP where there is a fast card", seats, machine)
def look(seen: Seen) -> Iterator[Finding]:
    cards = [d.name for t in seen.topologies.values() for d in t.devices if d.fabric]
    hosts = {rank.host for rank in seen.run.ranks}
    told = _told(seen)
    slow = _slow(seen)
    if not cards or len(hosts) < 2 or not (told or (slow and not seen.transport)):
        return
    yield Finding(
        what=f"messages between hosts go over TCP, beside the card {listed(cards)}"
        if told
        else f"short messages between hosts are as slow as TCP, beside the card {listed(cards)}",
        likely="the MPI does not use the card: its driver is not in this build, or a setting keeps "
        "it away" if told else "messages go over TCP; the run does not say what carried them",
        evidence=(
            *told,
            *([f"{cell_name(slow)} takes {time(slow)}"] if slow else []),
        ),
        attempts=(
            ("`mpigauge transports` shows what this MPI can use here; --transport selects it, and "
            "says whether it works"),
            "an MPI that is built with UCX or with libfabric's provider for the card",
        ),
    )  # fmt: skip


def _told(seen: Seen) -> list[str]:
    """What says that it is TCP: the transport of the run, or settings."""
    said = [f"the transport of the run is {seen.transport}"] if "tcp" in seen.transport else []
    return said + [f"{name}={value} is set" for name, value in seen.settings.items()
                   if name in _SELECTING and _is_only_tcp(value)]  # fmt: skip


_SELECTING = ("OMPI_MCA_btl", "FI_PROVIDER", "UCX_TLS", "I_MPI_OFI_PROVIDER")


def _is_only_tcp(value: str) -> bool:
    """A list with nothing beside TCP that leaves a host."""
    words = set(value.lower().split(","))
    return "tcp" in words and words <= {"tcp", "self", "sm", "vader"}


def _slow(seen: Seen) -> Row | None:
    """The slowest short round trip between hosts, where it is as slow as TCP."""
    between = [
        row
        for row in seen.rows
        if row.cell.benchmark in _ROUND_TRIPS
        and 0 <= row.message_bytes <= SHORT
        and seen.where(row) == "network"
        and row.latency.value > SLOW_S
    ]
    return max(between, key=lambda row: row.latency.value, default=None)
