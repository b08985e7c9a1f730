# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Network cards and GPUs: how to read them from /sys, and the order used for all sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
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
NVIDIA = "10de"
"""The PCI vendor."""
_GPU_INFORMATION = "proc/driver/nvidia/gpus"
"""A folder for each GPU that NVIDIA's driver manages, by its PCI address."""
_WIDTHS = ("1", "2", "4", "8", "12", "16", "32")
"""Widths of PCIe links; a device without a link has another number."""
_BRIDGE = re.compile(r"pci[0-9a-f]{4,}:[0-9a-f]{2}|[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


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
    gpus = [_gpu(files, bus, numa) for bus in gpu_addresses(files)]
    return in_order([*cards, *_numbered(gpus)])


def nvidia_gpus(among: Iterable[Device]) -> tuple[Device, ...]:
    """Returns NVIDIA's GPUs in the order of their PCI addresses: those that the driver lists, as a
    container may have only some; all, if it lists none."""
    there = [device for device in among if device.kind == "gpu" and device.vendor == NVIDIA]
    listed = [device for device in there if device.model]
    return tuple(sorted(listed or there, key=lambda device: device.bus))


def _numbered(gpus: Sequence[Device]) -> list[Device]:
    """Names NVIDIA's GPUs by their indices."""
    names = {gpu.bus: f"GPU {index}" for index, gpu in enumerate(nvidia_gpus(gpus))}
    return [replace(gpu, name=names.get(gpu.bus, gpu.name)) for gpu in gpus]


def gpu_addresses(files: Files) -> list[str]:
    """Returns the PCI addresses of all GPUs."""
    return [bus for bus in files.names(PCI) if kind_of(_class(files, bus)) == "gpu"]


def drivers(files: Files) -> tuple[str, ...]:
    """Returns the drivers of network cards and GPUs, by name: each with its version, or with the
    module's source version if it has none."""
    folders = [
        f"sys/class/{kind}/{name}/device"
        for kind in (*FABRICS, "net")
        for name in files.names(f"sys/class/{kind}")
    ]
    folders += [f"{PCI}/{bus}" for bus in gpu_addresses(files)]
    uevents = (files.text(f"{folder}/uevent") or "" for folder in folders)
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
        bridges=_bridges(files, bus),
    )


def _bridges(files: Files, bus: str) -> tuple[str, ...]:
    """Returns the bridges above a device, from the folders that hold its own."""
    above = files.real(f"{PCI}/{bus}").split("/")[:-1]
    return tuple(name for name in above if _BRIDGE.fullmatch(name))


def _gpu(files: Files, bus: str, numa: tuple[Numa, ...]) -> Device:
    information = files.text(f"{_GPU_INFORMATION}/{bus}/information") or ""
    facts = dict(re.findall(r"^([^:\n]+):[ \t]*(.*?)[ \t]*$", information, re.MULTILINE))
    uuid = facts.get("GPU UUID", "")
    return replace(
        _device(files, bus, "gpu", [bus], False, numa),
        vendor=(files.text(f"{PCI}/{bus}/vendor") or "").strip().removeprefix("0x"),
        model=facts.get("Model", ""),
        uuid="" if "?" in uuid else uuid,  # until the driver first opens the GPU
        link=_link(files, bus, "current"),
        link_max=_link(files, bus, "max"),
    )


def _link(files: Files, bus: str, which: Literal["current", "max"]) -> str:
    """Returns a link's speed and width, as in 32.0 GT/s x16; empty: the device reports none."""
    speed = (files.text(f"{PCI}/{bus}/{which}_link_speed") or "").strip().removesuffix(" PCIe")
    width = (files.text(f"{PCI}/{bus}/{which}_link_width") or "").strip()
    if not speed[:1].isdigit() or width not in _WIDTHS:
        return ""
    return f"{speed} x{width}"


def _bus(files: Files, folder: str) -> str:
    """Returns the PCI address of a device, or of the card behind a virtual device; empty: none."""
    for path in (f"{folder}/uevent", f"{folder}/../uevent"):
        if match := re.search(r"^PCI_SLOT_NAME=(\S+)", files.text(path) or "", re.MULTILINE):
            return match[1]
    return ""


def _class(files: Files, bus: str) -> int:
    text = (files.text(f"{PCI}/{bus}/class") or "0").strip()
    return int(text, 16) >> 8
