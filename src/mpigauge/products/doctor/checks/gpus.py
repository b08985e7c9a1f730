# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""GPUs: their driver, their links, and the cores and network cards next to them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.topology import Device
from mpigauge.products.doctor.check_finding import CheckFinding, Host, bad, good, note, unknown
from mpigauge.products.doctor.registry import check
from mpigauge.show.topology.gpus import link_words, nearest_card
from mpigauge.site.topology.devices import PCI, nvidia_gpus

DRIVER = ("proc/driver/nvidia/version", "sys/module/nvidia/version")
PEER_MODULES = ("nvidia_peermem", "nv_peer_mem")
"""Kernel modules by which network cards reach the memory of GPUs."""
_VERSION = re.compile(r"\b\d{3,}\.\d+(?:\.\d+)?\b")


@check("gpus", "the driver of GPUs, their links, and their nearest network cards")
def gpus(host: Host) -> Iterator[CheckFinding]:
    there = nvidia_gpus(host.machine.devices)
    if not there:
        visible = bool(host.files.names(PCI))
        yield good("no NVIDIA GPU") if visible else unknown("PCI devices are not visible")
        return
    yield _driver(host, there)
    for gpu in there:
        yield _near(host, gpu)
        if narrow := _link(gpu):
            yield narrow
    if any(device.fabric for device in host.machine.devices):
        yield _direct(host)


def driver_version(host: Host) -> str:
    """The version of NVIDIA's driver; empty: it is not visible."""
    for path in DRIVER:
        if match := _VERSION.search(host.files.text(path) or ""):
            return match[0]
    return ""


def _driver(host: Host, there: tuple[Device, ...]) -> CheckFinding:
    if version := driver_version(host):
        return good(f"NVIDIA driver {version}")
    uevents = [host.files.text(f"{PCI}/{gpu.bus}/uevent") or "" for gpu in there]
    if not any(uevents) or any("DRIVER=nvidia" in text for text in uevents):
        return unknown("the version of NVIDIA's driver is not visible")
    return bad(
        f"there is no NVIDIA driver for {', '.join(gpu.name for gpu in there)}",
        "no program can use them",
        "install NVIDIA's driver, or load its module: `sudo modprobe nvidia`",
    )


def _near(host: Host, gpu: Device) -> CheckFinding:
    machine = host.machine
    facts = ", ".join(filter(None, (gpu.model, link_words(gpu))))
    about = f"{gpu.name} ({facts})" if facts else gpu.name
    card = nearest_card(machine, gpu).strip()
    card = f"; {card}" if card else ""
    if sum(bool(node.pus) for node in machine.numa) < 2:
        return good(f"{about}: all cores are equally near{card}")
    if not gpu.pus:
        return unknown(f"{about}: the machine does not report which cores it is next to{card}")
    where = f"NUMA node {gpu.numa}" if gpu.numa is not None else f"CPU {as_list(gpu.pus)}"
    if near := gpu.pus & machine.allowed:
        return good(f"{about} is at {where}; near are CPU {as_list(near)}{card}")
    return note(
        f"{about} is at {where}, of which no CPU may be used{card}",
        "each copy to and from it crosses to another socket or NUMA node, and small messages take "
        "longer",
        f"request cores of {where}: CPU {as_list(gpu.pus)}",
    )


def _link(gpu: Device) -> CheckFinding | None:
    """A finding if the link has fewer lanes than the GPU supports. A lower speed is no fault: an
    idle GPU slows its link down."""
    now, most = gpu.link.rpartition(" x")[2], gpu.link_max.rpartition(" x")[2]
    if not now or not most or int(now) >= int(most):
        return None
    return bad(
        f"{gpu.name} has a PCIe link of {now} instead of {most} lanes",
        f"copies between host and GPU reach {int(now) / int(most):.0%} of the bandwidth",
        "check the slot, riser and BIOS settings; `sudo lspci -vv -s "
        f"{gpu.bus}` shows LnkCap and LnkSta",
    )


def _direct(host: Host) -> CheckFinding:
    for module in PEER_MODULES:
        if host.files.names(f"sys/module/{module}"):
            return good(f"network cards can reach GPU memory: the module {module} is loaded")
    return unknown(
        "whether network cards can reach GPU memory: nvidia_peermem is not loaded, and DMA-BUF "
        "takes a program to try"
    )
