# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks on different hosts in turn, on each host in compact order."""

from __future__ import annotations

from mpigauge.model.placement import Seat
from mpigauge.site.placement.interleave import interleaved
from mpigauge.site.placement.policy_request import PolicyRequest
from mpigauge.site.placement.registry import policy


@policy("hosts", "ranks on different hosts, in turn; one on each unless more are asked for")
def hosts(request: PolicyRequest) -> list[Seat]:
    if len(request.hosts) < 2:
        raise request.refuse(f"it needs two hosts or more, there is one ({request.hosts[0].name})")
    seats = interleaved([host.seats(host.cores) for host in request.hosts])
    count = len(request.hosts) if request.ranks is None else request.ranks
    request.enough(len(seats), count)
    return seats[:count]
