# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Several placements of two ranks in one job: a rank on every seat, and a pair for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mpigauge.model.placement import Placement, Seat


class SharedJob(NamedTuple):
    where: Placement
    """All seats, host by host."""
    places: dict[str, str]
    """The policy of each pair of ranks, as in the column `members`: "0,2" is l3."""


def in_one_job(wheres: Sequence[Placement]) -> SharedJob | None:
    """Merges placements; None: they cannot share a job. There is only one, one has more than two
    ranks, a rank is not bound, two of them are the same, or seats overlap."""
    if len(wheres) < 2 or any(where.ranks != 2 for where in wheres):
        return None
    seats = _host_by_host([seat for where in wheres for seat in where.seats])
    if not _apart(seats):
        return None
    rank = {seat: number for number, seat in enumerate(seats)}
    names = {}
    for where in wheres:
        first, second = where.seats
        names[f"{rank[first]},{rank[second]}"] = where.name
    if len(names) < len(wheres):
        return None
    return SharedJob(Placement("", tuple(seats)), names)


def _host_by_host(seats: Sequence[Seat]) -> list[Seat]:
    """Returns each seat once, host by host, in the order of first appearance."""
    hosts = list(dict.fromkeys(seat.host for seat in seats))
    return sorted(dict.fromkeys(seats), key=lambda seat: hosts.index(seat.host))


def _apart(seats: Sequence[Seat]) -> bool:
    pus = [(seat.host, pu) for seat in seats for pu in seat.pus]
    return all(seat.pus for seat in seats) and len(pus) == len(set(pus))
