# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which rank sits where: what a policy gives, and what kernels or launchers enforce."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Seat:
    """The seat of one rank."""

    host: str
    pus: frozenset[int]
    """The PUs of that host that it may run on; none: it is not bound."""


@dataclass(frozen=True)
class Placement:
    name: str
    """The policy as it was asked for: l3, cores:0,4; empty: nobody asked for one."""
    seats: tuple[Seat, ...]
    """Of rank 0, 1, …"""

    @property
    def ranks(self) -> int:
        return len(self.seats)

    @cached_property
    def by_host(self) -> dict[str, tuple[Seat, ...]]:
        """Hosts in the order of their first ranks, each with the seats of local rank 0, 1, …"""
        hosts: dict[str, list[Seat]] = {}
        for seat in self.seats:
            hosts.setdefault(seat.host, []).append(seat)
        return {host: tuple(seats) for host, seats in hosts.items()}
