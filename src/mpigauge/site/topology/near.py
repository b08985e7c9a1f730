# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The distance of a core from a network card or a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
