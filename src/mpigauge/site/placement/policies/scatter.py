# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""As far from each other as they can be: in turn over hosts, sockets, NUMA nodes, caches."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.model.placement import Seat
from mpigauge.site.placement.ask import Ask
from mpigauge.site.placement.registry import policy
from mpigauge.site.placement.site import Site
from mpigauge.site.placement.turns import interleaved


@policy("scatter", "a core for each rank, as far from each other as they can be")
def scatter(ask: Ask) -> list[Seat]:
    seats = interleaved([site.seats(spread(site, site.cores)) for site in ask.sites])
    ask.enough(len(seats))
    return seats[: ask.wanted]


def spread(site: Site, cores: Sequence[int]) -> list[int]:
    """These cores, in turn over the largest groups that they fall into, in each the same again."""
    if len(cores) < 2:
        return list(cores)
    held = frozenset(cores)
    for name in sorted(site.levels.groups, key=lambda name: -len(site.levels.groups[name][0])):
        inside = [[pu for pu in cores if pu in g] for g in site.levels.groups[name] if g & held]
        if len(inside) > 1 and sum(map(len, inside)) == len(cores):
            return interleaved([spread(site, group) for group in inside])
    return list(cores)
