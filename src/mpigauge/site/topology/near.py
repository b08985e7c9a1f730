# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Distances: of a core from a network card or a GPU, and of these from each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.model.topology import Device
    from mpigauge.site.topology.levels import Levels

NEAREST = 10
"""The distance of a NUMA node from itself in the firmware's table."""
_SAME_SOCKET, _OTHER_SOCKET = 15, 20


def distance(levels: Levels, device: Device, pu: int) -> int:
    """Returns the firmware's distance from the device's NUMA node to that of the core. If it is
    not listed, the distance depends on whether both are on one socket."""
    if pu in device.pus:
        return NEAREST
    it = levels.topology
    here = it.pu(pu)
    numbers = [node.number for node in it.numa]
    if it.distances and here is not None and device.numa in numbers and here.numa in numbers:
        return it.distances[numbers.index(device.numa)][numbers.index(here.numa)]
    socket = levels.around[pu]["socket"]
    if socket & device.pus:
        return _SAME_SOCKET
    return _OTHER_SOCKET


PATHS = {
    "PIX": "through one PCIe switch",
    "PXB": "through several PCIe bridges",
    "PHB": "through one host bridge",
    "NODE": "within a NUMA node",
    "SYS": "between NUMA nodes",
}
"""The ways from one PCI device to another from near to far, in the words of nvidia-smi."""
UNKNOWN_PATH = "?"


def path_between(first: Device, second: Device) -> str:
    """Returns the way from one device to another, a word of PATHS; ?: the machine reports too
    little."""
    common = _common(first.bridges, second.bridges)
    switches = [name for name in common if not name.startswith("pci")]
    if switches:
        below = max(len(first.bridges), len(second.bridges)) - len(common)
        return "PIX" if below <= 1 else "PXB"
    if common:
        return "PHB"
    if first.numa is None or second.numa is None:
        return UNKNOWN_PATH
    return "NODE" if first.numa == second.numa else "SYS"


def nearest_devices(to: Device, devices: Iterable[Device]) -> tuple[Device, ...]:
    """Returns the devices of the shortest path to this one, in their order; none if no path is
    known."""
    paths = {device: path_between(to, device) for device in devices}
    for word in PATHS:
        if nearest := tuple(device for device, path in paths.items() if path == word):
            return nearest
    return ()


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    shared = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        shared += 1
    return first[:shared]
