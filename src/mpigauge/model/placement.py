# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The placement of ranks, as a policy computes it and kernels or launchers enforce it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Seat:
    """The host and the PUs of one rank."""

    host: str
    pus: frozenset[int]
    """The PUs of that host that the rank may run on; empty: it is not bound."""


@dataclass(frozen=True)
class Placement:
    name: str
    """The policy that the user asked for: l3, cores:0,4; empty: none."""
    seats: tuple[Seat, ...]
    """The seats of rank 0, 1, …"""

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
