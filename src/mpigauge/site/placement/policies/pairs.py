# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Two ranks by the innermost level that they share: core, l2, l3, l4, numa, socket, sockets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from mpigauge.model.placement import Seat
from mpigauge.model.units import listed
from mpigauge.site.placement.host_resources import HostResources
from mpigauge.site.placement.policy_request import PolicyRequest
from mpigauge.site.placement.registry import policy

ABOUT = {
    "core": "two hardware threads of one core",
    "l2": "two cores that share an L2 cache",
    "l3": "two cores that share an L3 cache, and nothing closer",
    "l4": "two cores that share an L4 cache, and nothing closer",
    "numa": "two cores of one NUMA node that share no cache",
    "socket": "two cores of one socket, of different NUMA nodes",
    "sockets": "two cores of different sockets of one host",
}


def _pair(level: str) -> Callable[[PolicyRequest], list[Seat]]:
    def give(request: PolicyRequest) -> list[Seat]:
        if request.ranks not in (None, 2):
            raise request.refuse(f"it places 2 ranks, the job has {request.ranks}")
        for host in request.hosts:
            if pair := first_pair(host, level):
                return [host.seat(pu) for pu in pair]
        raise request.refuse(_why_not(request, level))

    return give


def first_pair(host: HostResources, level: str) -> tuple[int, int] | None:
    """Returns the first two cores whose innermost common level this is; None: no such pair."""
    if level == "core":
        return _siblings(host)
    pairs = combinations(host.cores, 2)
    return next(((a, b) for a, b in pairs if host.levels.closest(a, b) == level), None)


def _siblings(host: HostResources) -> tuple[int, int] | None:
    for group in host.levels.usable_groups("core"):
        if len(group) > 1:
            first, second, *_ = sorted(group)
            return first, second
    return None


def _why_not(request: PolicyRequest, level: str) -> str:
    here = [name for name in request.hosts[0].levels.shared() if name in ABOUT]
    if not here:
        return "it needs two cores, and only one may be used here"
    alias = _same(request.hosts[0], level)
    others = "; for ranks on different hosts write hosts" if len(request.hosts) > 1 else ""
    return (
        f"on {request.hosts[0].name} {level} is never the closest that two ranks share{alias}; "
        f"this machine has {listed(here)}{others}"
    )


def _same(host: HostResources, level: str) -> str:
    """Returns the name of another level with the same PUs, as a clause; empty: no level has."""
    groups = host.levels.groups
    others = [name for name in groups if name != level and groups[name] == groups.get(level)]
    if others:
        return f", {level} and {others[0]} are the same here"
    return ""


def _add_all(levels: Sequence[str]) -> None:
    for level in levels:
        policy(level, ABOUT[level])(_pair(level))


_add_all(tuple(ABOUT))
