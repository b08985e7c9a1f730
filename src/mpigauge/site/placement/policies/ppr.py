# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""So many ranks on each object of a level, as Open MPI's ppr."""

from __future__ import annotations

from mpigauge.model.errors import nearest_or_all
from mpigauge.model.placement import Seat
from mpigauge.model.units import listed
from mpigauge.site.placement.ask import Ask
from mpigauge.site.placement.registry import ALIASES, policy
from mpigauge.site.topology.levels import NAMES

_LEVELS = tuple(name for name in NAMES if name != "pu")


@policy("ppr", "so many ranks on each object of a level: ppr:2:l3", argument="N:LEVEL")
def per_resource(ask: Ask) -> list[Seat]:
    count, level = _read(ask)
    seats = []
    for site in ask.sites:
        groups = site.levels.usable_groups(level)
        if not groups:
            raise ask.refuse(f"this machine has no {level}; it has {listed(_here(ask))}")
        for group in groups:
            cores = [pu for pu in site.cores if pu in group]
            if len(cores) < count:
                raise ask.refuse(
                    f"a {level} of {site.name} has {len(cores)} cores that may be used, not {count}"
                )
            seats += [site.seat(pu) for pu in cores[:count]]
    return seats


def _read(ask: Ask) -> tuple[int, str]:
    count, colon, level = ask.argument.partition(":")
    level = ALIASES.get(level.strip().lower(), level.strip().lower())
    if not colon or not count.isdecimal() or int(count) < 1:
        raise ask.refuse("write a number and a level, such as ppr:2:l3")
    if level not in _LEVELS:
        hint = nearest_or_all(level, _LEVELS)
        raise ask.refuse(f"there is no level '{level}'{hint}")
    return int(count), level


def _here(ask: Ask) -> list[str]:
    return [name for name in ask.sites[0].levels.groups if name in _LEVELS]
