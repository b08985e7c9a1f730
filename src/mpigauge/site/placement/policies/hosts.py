# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks on different hosts, in turn; on each host as compact does."""

from __future__ import annotations

from mpigauge.model.placement import Seat
from mpigauge.site.placement.ask import Ask
from mpigauge.site.placement.registry import policy
from mpigauge.site.placement.turns import interleaved


@policy("hosts", "ranks on different hosts, in turn; one on each unless more are asked for")
def hosts(ask: Ask) -> list[Seat]:
    if len(ask.sites) < 2:
        raise ask.refuse(f"it needs two hosts or more, there is one ({ask.sites[0].name})")
    seats = interleaved([site.seats(site.cores) for site in ask.sites])
    count = len(ask.sites) if ask.ranks is None else ask.ranks
    ask.enough(len(seats), count)
    return seats[:count]
