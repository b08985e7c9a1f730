# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Network cards and GPUs: how to read them from /sys, and the order used for all sources."""

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
"""The kernel's device classes of networks for which MPI libraries have drivers of their own."""
FABRIC_CLASSES = (0x0207, 0x0208)
"""PCI classes: InfiniBand, and fabric controllers (Omni-Path)."""
_GRAPHICS, _ACCELERATOR, _NETWORK = 0x03, 0x12, 0x02


def devices(files: Files, numa: tuple[Numa, ...]) -> tuple[Device, ...]:
    """Returns network devices with a driver, which has named them, and all GPUs."""
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
    """Returns the drivers of network cards, by name: each with its version, or with the module's
    source version if it has none."""
    uevents = (
        files.text(f"sys/class/{kind}/{name}/device/uevent") or ""
        for kind in (*FABRICS, "net")
        for name in files.names(f"sys/class/{kind}")
    )
    names = {
        match[1] for text in uevents if (match := re.search(r"^DRIVER=(\S+)", text, re.MULTILINE))
    }
    return tuple(f"{name} {_version(files, name)}".rstrip() for name in sorted(names))


def _version(files: Files, driver: str) -> str:
    folder = f"sys/module/{driver}"
    versions = (files.text(f"{folder}/{name}") or "" for name in ("version", "srcversion"))
    return next((version.strip() for version in versions if version.strip()), "")


def in_order(unsorted: Iterable[Device]) -> tuple[Device, ...]:
    """Sorts network cards before GPUs, fabrics before other networks, each by address and name."""
    return tuple(sorted(unsorted, key=lambda d: (d.kind == "gpu", not d.fabric, d.bus, d.name)))


def kind_of(pci_class: int) -> Literal["network", "gpu"] | None:
    """Returns the kind of device of a PCI class (0x0207: InfiniBand); None: any other."""
    base = pci_class >> 8
    if base == _NETWORK:
        return "network"
    if base in (_GRAPHICS, _ACCELERATOR):
        return "gpu"
    return None


def numa_beside(pus: frozenset[int], numa: Iterable[Numa]) -> int | None:
    """Returns the number of the only NUMA node that holds all these PUs; None: not just one."""
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
    text = (files.text(f"{PCI}/{bus}/numa_node") or "").strip()
    number = int(text) if text.isdigit() else numa_beside(near, numa)
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
    """Returns the PCI address of a device, or of the card behind a virtual device; empty: none."""
    for path in (f"{folder}/uevent", f"{folder}/../uevent"):
        if match := re.search(r"^PCI_SLOT_NAME=(\S+)", files.text(path) or "", re.MULTILINE):
            return match[1]
    return ""


def _class(files: Files, bus: str) -> int:
    text = (files.text(f"{PCI}/{bus}/class") or "0").strip()
    return int(text, 16) >> 8
