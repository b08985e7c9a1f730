# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Checks whether the MPI can use the network cards of this machine."""

from __future__ import annotations

from collections.abc import Iterator

from mpigauge.model.topology import Device
from mpigauge.products.doctor.check_finding import CheckFinding, Host, MpiOffers, bad, good, unknown
from mpigauge.products.doctor.registry import check


@check("transports", "whether the MPI can use the network cards that are there")
def transports(host: Host) -> Iterator[CheckFinding]:
    asked = host.asked
    if asked is None:
        yield unknown("no MPI was asked; `mpigauge mpi transports` asks one")
        return
    fabrics = [device for device in host.machine.devices if device.fabric]
    unused = [card for card in fabrics if not _reaches(asked, card)]
    for card in unused:
        yield bad(
            f"{asked.label} has nothing that uses {card.name}",
            "messages to other nodes go over TCP: many times the latency, a part of the bandwidth",
            "take an MPI that was built with UCX or libfabric for it (`mpigauge mpi list`), or "
            "install the card's library (rdma-core, the provider of libfabric)",
        )
    if not unused:
        names = []
        for transport in asked.transports:
            if "@" not in transport.name:
                names.append(transport.name)
        yield good(f"{asked.label} has {', '.join(names) or 'none that can be selected'}")


def _reaches(asked: MpiOffers, card: Device) -> bool:
    """UCX names a card with its port (mlx5_0:1), libfabric with its kind (rdmap0s6-rdm)."""
    there = {transport.name for transport in asked.transports}
    devices = set()
    for lane in asked.offers.ucx:
        if lane.transport != "tcp" and f"ucx:{lane.device}" in there:
            devices.add(lane.device.partition(":")[0])
    domains = set()
    for provider in asked.offers.providers:
        if not provider.name.startswith("tcp") and f"ofi:{provider.name}" in there:
            domains.add(provider.domain)
    names = {card.name, *card.also}
    return bool(names & (devices | domains)) or any(
        domain.startswith(f"{name}-") for domain in domains for name in names
    )
