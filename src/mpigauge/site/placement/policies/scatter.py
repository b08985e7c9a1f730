# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The scatter policy: ranks far apart, in turn over hosts, sockets, NUMA nodes and caches."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.model.placement import Seat
from mpigauge.site.placement.host_resources import HostResources
from mpigauge.site.placement.interleave import interleaved
from mpigauge.site.placement.policy_request import PolicyRequest
from mpigauge.site.placement.registry import policy


@policy("scatter", "a core for each rank, as far from each other as they can be")
def scatter(request: PolicyRequest) -> list[Seat]:
    seats = interleaved([host.seats(spread(host, host.cores)) for host in request.hosts])
    request.enough(len(seats))
    return seats[: request.rank_count]


def spread(host: HostResources, cores: Sequence[int]) -> list[int]:
    """Orders cores in turn over the largest groups that they fall into, recursively."""
    if len(cores) < 2:
        return list(cores)
    held = frozenset(cores)
    for name in sorted(host.levels.groups, key=lambda name: -len(host.levels.groups[name][0])):
        inside = []
        for g in host.levels.groups[name]:
            if g & held:
                inside.append([pu for pu in cores if pu in g])
        if len(inside) > 1 and sum(map(len, inside)) == len(cores):
            return interleaved([spread(host, group) for group in inside])
    return list(cores)
