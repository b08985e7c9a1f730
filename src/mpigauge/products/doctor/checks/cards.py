# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Network cards: whether they are up, and beside which cores they sit."""

from __future__ import annotations

from collections.abc import Iterator

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.topology import Device
from mpigauge.products.doctor.check_finding import CheckFinding, Host, bad, good, note, unknown
from mpigauge.products.doctor.registry import check

PORTS = "sys/class/infiniband"


@check("network-cards", "beside which cores the network cards sit, and whether they are up")
def network_cards(host: Host) -> Iterator[CheckFinding]:
    cards = [device for device in host.machine.devices if device.kind == "network"]
    fabrics = [card for card in cards if card.fabric]
    if not cards:
        yield unknown("no network card reports its NUMA node")
    for card in fabrics or cards:
        yield _near(host, card)
    for card in fabrics:
        yield from _ports(host, card)


def _near(host: Host, card: Device) -> CheckFinding:
    machine = host.machine
    if sum(bool(node.pus) for node in machine.numa) < 2:
        return good(f"{card.name}: all cores are equally near")
    if not card.pus:
        return unknown(f"{card.name} does not report its nearest cores")
    near = card.pus & machine.allowed
    where = f"NUMA node {card.numa}" if card.numa is not None else f"CPU {as_list(card.pus)}"
    if near:
        return good(f"{card.name} sits at {where}; near are CPU {as_list(near)}")
    return note(
        f"{card.name} sits at {where}, of which no CPU may be used",
        "each message to another node crosses to another socket or NUMA node first, which takes a "
        "part of a microsecond",
        f"ask for cores of {where}: CPU {as_list(card.pus)}",
    )


def _ports(host: Host, card: Device) -> Iterator[CheckFinding]:
    for name in (card.name, *card.also):
        for port in host.files.names(f"{PORTS}/{name}/ports"):
            state = (host.files.text(f"{PORTS}/{name}/ports/{port}/state") or "").strip()
            rate = (host.files.text(f"{PORTS}/{name}/ports/{port}/rate") or "").strip()
            if state and "ACTIVE" not in state:
                yield bad(
                    f"port {port} of {name} is not active: {state}",
                    "messages to other nodes take another card, or TCP",
                    "check the cable and the switch: `ibstat`, `ibv_devinfo`; a subnet "
                    "manager has to run",
                )
            elif state:
                yield good(f"port {port} of {name} is active{', ' + rate if rate else ''}")
