# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A placement in the form for launchers and kernels: hosts, each with its ranks and their cores.

Launchers support two orders of ranks: host by host, and one on each host in turn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.errors import UserError
from mpigauge.model.hosts import HostRanks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.placement import Placement, Seat


def blocks(placement: Placement) -> tuple[HostRanks, ...]:
    """Returns a block for each host, in the order of their first ranks.

    UserError: no launcher supports this order of ranks over hosts.
    """
    hosts = [HostRanks(host, len(on), _bind(on)) for host, on in placement.by_host.items()]
    alike = _alike(hosts)
    if in_turn(placement) and len({block.bind for block in alike}) > 1:
        raise UserError(
            f"--place {placement.name}: hosts would have different cores (of {hosts[0].host} "
            f"{', '.join(hosts[0].bind)}), which launchers do not support when ranks go from host "
            "to host in turn; take compact, or a rank for each host"
        )
    return alike


def in_turn(placement: Placement) -> bool:
    """True if ranks go from host to host in turn, False if the hosts are filled one after the
    other.

    UserError: neither is the case.
    """
    hosts = list(placement.by_host)
    order = [seat.host for seat in placement.seats]
    by_host = [host for host, on in placement.by_host.items() for _ in on]
    if order == by_host:
        return False
    if order != [hosts[rank % len(hosts)] for rank in range(len(order))]:
        raise UserError(
            f"--place {placement.name}: ranks go from host to host in an order that launchers "
            "do not support; number them host by host, or one on each host in turn"
        )
    return True


def _bind(seats: Sequence[Seat]) -> tuple[str, ...]:
    """Returns the cores of local rank 0, 1, …; empty if a rank has no cores of its own."""
    if all(s.pus for s in seats):
        return tuple(as_list(s.pus, "+") for s in seats)
    return ()


def _alike(hosts: list[HostRanks]) -> tuple[HostRanks, ...]:
    """Gives hosts whose cores begin the longest list all of it, so that one command fits all."""
    longest = max((block.bind for block in hosts), key=len)
    return tuple(
        replace(block, bind=longest)
        if block.bind and block.bind == longest[: len(block.bind)]
        else block
        for block in hosts
    )
