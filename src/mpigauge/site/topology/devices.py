# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Network cards and GPUs: what /sys says of them, and the order in which all sources name them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import parse_list
from mpigauge.model.topology import Device, Numa

if TYPE_CHECKING:
    from typing import Literal

    from mpigauge.site.topology.files import Files

PCI = "sys/bus/pci/devices"
FABRICS = ("infiniband", "cxi", "hfi1")
"""Classes of the kernel for networks that MPI libraries have drivers of their own for."""
FABRIC_CLASSES = (0x0207, 0x0208)
"""Of PCI: InfiniBand, and what calls itself a fabric (Omni-Path)."""
_GRAPHICS, _ACCELERATOR, _NETWORK = 0x03, 0x12, 0x02


def devices(files: Files, numa: tuple[Numa, ...]) -> tuple[Device, ...]:
    """Devices with a driver, which has given them a name, and all GPUs."""
    named: dict[str, list[str]] = {}
    fabrics: set[str] = set()
    for kind in (*FABRICS, "net"):
        for name in files.names(f"sys/class/{kind}"):
            bus = _bus(files, f"sys/class/{kind}/{name}/device")
            if bus:
                named.setdefault(bus, []).append(name)
                fabrics |= {bus} if kind in FABRICS else set()
    cards = [
        _device(files, bus, "network", names, bus in fabrics, numa) for bus, names in named.items()
    ]
    gpus = [bus for bus in files.names(PCI) if kind_of(_class(files, bus)) == "gpu"]
    return in_order([*cards, *(_device(files, bus, "gpu", [bus], False, numa) for bus in gpus)])


def drivers(files: Files) -> tuple[str, ...]:
    """Drivers of network cards, by name: with the version, or what stands for it in modules without
    one."""
    said = (
        files.text(f"sys/class/{kind}/{name}/device/uevent") or ""
        for kind in (*FABRICS, "net")
        for name in files.names(f"sys/class/{kind}")
    )
    names = {
        match[1] for text in said if (match := re.search(r"^DRIVER=(\S+)", text, re.MULTILINE))
    }
    return tuple(f"{name} {_version(files, name)}".rstrip() for name in sorted(names))


def _version(files: Files, driver: str) -> str:
    folder = f"sys/module/{driver}"
    said = (files.text(f"{folder}/{name}") or "" for name in ("version", "srcversion"))
    return next((version.strip() for version in said if version.strip()), "")


def in_order(found: Iterable[Device]) -> tuple[Device, ...]:
    """Network cards before GPUs, fabrics before other networks, each by address and name."""
    return tuple(sorted(found, key=lambda d: (d.kind == "gpu", not d.fabric, d.bus, d.name)))


def kind_of(pci_class: int) -> Literal["network", "gpu"] | None:
    """What a PCI class (0x0207: InfiniBand) is to us."""
    base = pci_class >> 8
    if base == _NETWORK:
        return "network"
    if base in (_GRAPHICS, _ACCELERATOR):
        return "gpu"
    return None


def numa_beside(pus: frozenset[int], numa: Iterable[Numa]) -> int | None:
    """The one NUMA node that holds all these PUs."""
    around = [node.number for node in numa if pus and pus <= node.pus]
    if len(around) == 1:
        return around[0]
    return None


def _device(
    files: Files,
    bus: str,
    kind: Literal["network", "gpu"],
    names: list[str],
    fabric: bool,
    numa: tuple[Numa, ...],
) -> Device:
    near = frozenset(parse_list((files.text(f"{PCI}/{bus}/local_cpulist") or "").strip()))
    said = (files.text(f"{PCI}/{bus}/numa_node") or "").strip()
    number = int(said) if said.isdigit() else numa_beside(near, numa)
    beside = (node.pus for node in numa if node.number == number)
    return Device(
        name=names[0],
        also=tuple(names[1:]),
        kind=kind,
        fabric=fabric,
        bus=bus,
        pus=near or next(beside, frozenset()),
        numa=number,
    )


def _bus(files: Files, folder: str) -> str:
    """The PCI address of a device, or of the card that a virtual device is on."""
    for path in (f"{folder}/uevent", f"{folder}/../uevent"):
        if match := re.search(r"^PCI_SLOT_NAME=(\S+)", files.text(path) or "", re.MULTILINE):
            return match[1]
    return ""


def _class(files: Files, bus: str) -> int:
    text = (files.text(f"{PCI}/{bus}/class") or "0").strip()
    return int(text, 16) >> 8
