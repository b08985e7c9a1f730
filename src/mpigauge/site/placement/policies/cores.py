# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Cores by their numbers, an entry for each rank of a host: --bind is short for this."""

from __future__ import annotations

from mpigauge.model.placement import Seat
from mpigauge.site.placement.ask import Ask
from mpigauge.site.placement.cores import cores_of, parse_entries
from mpigauge.site.placement.registry import policy


@policy("cores", "these cores of each host for its ranks", argument="0,4")
def cores(ask: Ask) -> list[Seat]:
    """Entries are cores (4), ranges (0-3) or sums (0+4)."""
    entries = parse_entries(ask.argument, f"--place {ask.text}")
    return [site.seat(*cores_of(entry)) for site in ask.sites for entry in entries]
