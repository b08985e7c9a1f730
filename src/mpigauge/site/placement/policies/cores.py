# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Cores by number, an entry for each rank of a host. --bind is an abbreviation of this."""

from __future__ import annotations

from mpigauge.model.placement import Seat
from mpigauge.site.placement.cores import cores_of, parse_entries
from mpigauge.site.placement.policy_request import PolicyRequest
from mpigauge.site.placement.registry import policy


@policy("cores", "these cores of each host for its ranks", argument="0,4")
def cores(request: PolicyRequest) -> list[Seat]:
    """Places ranks on entries: cores (4), ranges (0-3) or sums (0+4)."""
    entries = parse_entries(request.argument, f"--place {request.text}")
    return [host.seat(*cores_of(entry)) for host in request.hosts for entry in entries]
