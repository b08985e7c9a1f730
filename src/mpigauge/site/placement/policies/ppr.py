# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A number of ranks on each object of a level, like Open MPI's ppr."""

from __future__ import annotations

from mpigauge.model.errors import nearest_or_all
from mpigauge.model.limits import MOST_RANKS, whole_number
from mpigauge.model.placement import Seat
from mpigauge.model.placement_words import OBJECTS
from mpigauge.model.units import listed
from mpigauge.site.placement.policy_request import PolicyRequest
from mpigauge.site.placement.registry import policy
from mpigauge.site.topology.levels import NAMES

_LEVELS = tuple(name for name in NAMES if name != "pu")


@policy("ppr", "so many ranks on each object of a level: ppr:2:l3", argument="N:LEVEL")
def per_resource(request: PolicyRequest) -> list[Seat]:
    count, level = _read(request)
    seats = []
    for host in request.hosts:
        groups = host.levels.usable_groups(level)
        if not groups:
            raise request.refuse(f"this machine has no {level}; it has {listed(_here(request))}")
        for group in groups:
            cores = [pu for pu in host.cores if pu in group]
            if len(cores) < count:
                raise request.refuse(
                    f"a {level} of {host.name} has {len(cores)} cores that may be used, not {count}"
                )
            seats += [host.seat(pu) for pu in cores[:count]]
    return seats


def _read(request: PolicyRequest) -> tuple[int, str]:
    count, colon, level = request.argument.partition(":")
    level = OBJECTS.get(level.strip().lower(), level.strip().lower())
    ranks = whole_number(count)
    if not colon or not ranks or ranks > MOST_RANKS:
        raise request.refuse("write a number and a level, such as ppr:2:l3")
    if level not in _LEVELS:
        hint = nearest_or_all(level, _LEVELS)
        raise request.refuse(f"there is no level '{level}'{hint}")
    return ranks, level


def _here(request: PolicyRequest) -> list[str]:
    return [name for name in request.hosts[0].levels.groups if name in _LEVELS]
