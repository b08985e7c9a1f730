# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The transports of UCX, for any MPI above it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mpigauge.model.transport import Offers, Transport

LOOPBACK = "lo"
"""The device that UCX lists, but that reaches no rank alone."""


def tcp_devices(offers: Offers) -> list[str]:
    """Returns the interfaces over which UCX has TCP."""
    lanes = (lane for lane in offers.ucx_network if lane.transport == "tcp")
    return [lane.device for lane in lanes if lane.device != LOOPBACK]


def lanes(offers: Offers, above: str, settings: Mapping[str, str]) -> Iterator[Transport]:
    """Yields UCX with its own choice, each of its network devices, and each transport on each of
    them.

    A device alone leaves UCX shared memory within a node, as UCX_NET_DEVICES does; a transport
    carries everything.
    """
    yield Transport("ucx", f"{above}: the devices that UCX chooses", dict(settings))
    network = [lane for lane in offers.ucx_network if lane.device != LOOPBACK]
    for device in dict.fromkeys(lane.device for lane in network):
        yield Transport(
            f"ucx:{device}", f"{above} on {device}", {**settings, "UCX_NET_DEVICES": device}
        )
    for lane in network:
        yield Transport(
            f"ucx:{lane.transport}@{lane.device}",
            f"{above}, {lane.transport} on {lane.device}, within a node too",
            {
                **settings,
                "UCX_TLS": f"{lane.transport},self",
                "UCX_NET_DEVICES": lane.device,
            },
        )
