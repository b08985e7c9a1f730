# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Cores by their distance from a network card."""

from __future__ import annotations

from mpigauge.model.errors import did_you_mean
from mpigauge.model.placement import Seat
from mpigauge.model.topology import Device
from mpigauge.site.placement.host_resources import HostResources
from mpigauge.site.placement.policy_request import PolicyRequest
from mpigauge.site.placement.registry import policy
from mpigauge.site.topology.near import NEAREST, distance


@policy(
    "nic-near", "cores next to the network card, or the one named", argument="CARD", optional=True
)
def near(request: PolicyRequest) -> list[Seat]:
    return request.spread(lambda host, _: _by_distance(request, host, far=False))


@policy(
    "nic-far", "cores farthest from the network card, or the one named",
    argument="CARD", optional=True,
)  # fmt: skip
def far(request: PolicyRequest) -> list[Seat]:
    return request.spread(lambda host, _: _by_distance(request, host, far=True))


def _by_distance(request: PolicyRequest, host: HostResources, far: bool) -> list[int]:
    card = _card(request, host)
    away = {pu: distance(host.levels, card, pu) for pu in host.cores}
    if len(set(away.values())) == 1 and (far or min(away.values()) > NEAREST):
        raise request.refuse(
            f"every core that may be used on {host.name} is equally far from {card.name}"
        )
    return sorted(host.cores, key=lambda pu: -away[pu] if far else away[pu])


def _card(request: PolicyRequest, host: HostResources) -> Device:
    cards = [device for device in host.topology.devices if device.kind == "network"]
    named = (
        [d for d in cards if request.argument in (d.name, d.bus, *d.also)]
        if request.argument
        else cards
    )
    if not named:
        names = [name for d in cards for name in (d.name, *d.also)]
        there = f"; there is {', '.join(names)}" if names else ""
        hint = did_you_mean(request.argument, names) or there
        raise request.refuse(f"{host.name} has no network card {request.argument}".rstrip() + hint)
    placed = [device for device in named if device.pus]
    if not placed:
        raise request.refuse(f"{host.name} does not report which cores {named[0].name} is next to")
    return placed[0]
