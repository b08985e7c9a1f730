# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Two ranks by what they share at the closest: core, l2, l3, l4, numa, socket, node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from mpigauge.model.placement import Seat
from mpigauge.model.units import listed
from mpigauge.site.placement.ask import Ask
from mpigauge.site.placement.registry import policy
from mpigauge.site.placement.site import Site

ABOUT = {
    "core": "two hardware threads of one core",
    "l2": "two cores that share an L2 cache",
    "l3": "two cores that share an L3 cache, and nothing closer",
    "l4": "two cores that share an L4 cache, and nothing closer",
    "numa": "two cores of one NUMA node that share no cache",
    "socket": "two cores of one socket, of different NUMA nodes",
    "node": "two cores of one node, of different sockets",
}


def _pair(level: str) -> Callable[[Ask], list[Seat]]:
    def give(ask: Ask) -> list[Seat]:
        if ask.ranks not in (None, 2):
            raise ask.refuse(f"it places 2 ranks, the job has {ask.ranks}")
        for site in ask.sites:
            if found := first_pair(site, level):
                return [site.seat(pu) for pu in found]
        raise ask.refuse(_why_not(ask, level))

    return give


def first_pair(site: Site, level: str) -> tuple[int, int] | None:
    """The first cores, in the order of the tree, that share this and nothing closer."""
    if level == "core":
        return _siblings(site)
    pairs = combinations(site.cores, 2)
    return next(((a, b) for a, b in pairs if site.levels.closest(a, b) == level), None)


def _siblings(site: Site) -> tuple[int, int] | None:
    for group in site.levels.usable_groups("core"):
        if len(group) > 1:
            first, second, *_ = sorted(group)
            return first, second
    return None


def _why_not(ask: Ask, level: str) -> str:
    here = [name for name in ask.sites[0].levels.shared() if name in ABOUT]
    if not here:
        return "it needs two cores, and only one may be used here"
    alias = _same(ask.sites[0], level)
    others = "; for ranks on different hosts write hosts" if len(ask.sites) > 1 else ""
    return (
        f"on {ask.sites[0].name} {level} is never the closest that two ranks share{alias}; "
        f"this machine has {listed(here)}{others}"
    )


def _same(site: Site, level: str) -> str:
    """The closer level that is made of the same PUs, if that is why."""
    groups = site.levels.groups
    others = [name for name in groups if name != level and groups[name] == groups.get(level)]
    return f", {level} and {others[0]} are the same here" if others else ""


def _add_all(levels: Sequence[str]) -> None:
    for level in levels:
        policy(level, ABOUT[level])(_pair(level))


_add_all(tuple(ABOUT))
