# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The compact policy: fills one host after the other, in the order of the tree."""

from __future__ import annotations

from mpigauge.model.placement import Seat
from mpigauge.site.placement.policy_request import PolicyRequest
from mpigauge.site.placement.registry import policy


@policy("compact", "a core for each rank, as close to each other as they can be")
def compact(request: PolicyRequest) -> list[Seat]:
    seats = [seat for host in request.hosts for seat in host.seats(host.cores)]
    request.enough(len(seats))
    return seats[: request.rank_count]
