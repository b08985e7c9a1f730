# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Cores by how near they are to a network card."""

from __future__ import annotations

from mpigauge.model.errors import did_you_mean
from mpigauge.model.placement import Seat
from mpigauge.model.topology import Device
from mpigauge.site.placement.ask import Ask
from mpigauge.site.placement.registry import policy
from mpigauge.site.placement.site import Site


@policy(
    "nic-near", "cores next to the network card, or the one named", argument="CARD", optional=True
)
def near(ask: Ask) -> list[Seat]:
    return _ordered(ask, far=False)


@policy(
    "nic-far", "cores farthest from the network card, or the one named",
    argument="CARD", optional=True,
)  # fmt: skip
def far(ask: Ask) -> list[Seat]:
    return _ordered(ask, far=True)


def _ordered(ask: Ask, far: bool) -> list[Seat]:
    """Host after host, each with its share of the ranks, nearest or farthest cores first."""
    share, more = divmod(ask.wanted, len(ask.sites))
    seats = []
    for place, site in enumerate(ask.sites):
        cores = _by_distance(ask, site, far)
        count = share + (place < more)
        if len(found := site.seats(cores)) < count:
            raise ask.refuse(f"{site.name} has room for {len(found)} ranks, not for {count}")
        seats += found[:count]
    return seats


def _by_distance(ask: Ask, site: Site, far: bool) -> list[int]:
    card = _card(ask, site)
    away = {pu: distance(site, card, pu) for pu in site.cores}
    if len(set(away.values())) == 1 and (far or min(away.values()) > NEAREST):
        raise ask.refuse(
            f"every core that may be used on {site.name} is equally far from {card.name}"
        )
    return sorted(site.cores, key=lambda pu: -away[pu] if far else away[pu])


NEAREST = 10
"""What the firmware says of a NUMA node and itself."""
_SAME_SOCKET, _OTHER_SOCKET = 15, 20


def distance(site: Site, card: Device, pu: int) -> int:
    """From the card's NUMA node to that of the core, as the firmware has it; where it does not
    say, whether they share the socket."""
    if pu in card.pus:
        return NEAREST
    it = site.topology
    here = it.pu(pu)
    numbers = [node.number for node in it.numa]
    if it.distances and here is not None and card.numa in numbers and here.numa in numbers:
        return it.distances[numbers.index(card.numa)][numbers.index(here.numa)]
    socket = site.levels.around[pu]["socket"]
    return _SAME_SOCKET if socket & card.pus else _OTHER_SOCKET


def _card(ask: Ask, site: Site) -> Device:
    cards = [device for device in site.topology.devices if device.kind == "network"]
    named = (
        [d for d in cards if ask.argument in (d.name, d.bus, *d.also)] if ask.argument else cards
    )
    if not named:
        names = [name for d in cards for name in (d.name, *d.also)]
        there = f"; there is {', '.join(names)}" if names else ""
        hint = did_you_mean(ask.argument, names) or there
        raise ask.refuse(f"{site.name} has no network card {ask.argument}".rstrip() + hint)
    placed = [device for device in named if device.pus]
    if not placed:
        raise ask.refuse(f"{site.name} does not tell which cores {named[0].name} is next to")
    return placed[0]
