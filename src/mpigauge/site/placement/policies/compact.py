# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Neighbours beside each other: the first host is filled before the next, as the tree goes."""

from __future__ import annotations

from mpigauge.model.placement import Seat
from mpigauge.site.placement.ask import Ask
from mpigauge.site.placement.registry import policy


@policy("compact", "a core for each rank, as close to each other as they can be")
def compact(ask: Ask) -> list[Seat]:
    seats = [seat for site in ask.sites for seat in site.seats(site.cores)]
    ask.enough(len(seats))
    return seats[: ask.wanted]
