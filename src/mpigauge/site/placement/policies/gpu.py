# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Cores by their distance from GPUs."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.gpu.usable import offered_gpus, usable_gpus
from mpigauge.site.placement.registry import policy
from mpigauge.site.topology.near import distance

if TYPE_CHECKING:
    from mpigauge.model.placement import Seat
    from mpigauge.model.topology import Device
    from mpigauge.site.placement.host_resources import HostResources
    from mpigauge.site.placement.policy_request import PolicyRequest


@policy("gpu", "cores next to the GPUs, a rank for each GPU in turn")
def near_gpus(request: PolicyRequest) -> list[Seat]:
    return request.spread(lambda host, ranks: _nearest(request, host, ranks))


def _nearest(request: PolicyRequest, host: HostResources, ranks: int) -> list[int]:
    """Returns for each rank the nearest core to its GPU that no rank before has taken."""
    free = list(host.cores)
    taken: list[int] = []
    for gpu in cycle(_gpus(request, host)):
        if len(taken) == ranks or not free:
            break
        core = min(free, key=lambda pu: distance(host.levels, gpu, pu))
        free.remove(core)
        taken.append(core)
    return taken


def _gpus(request: PolicyRequest, host: HostResources) -> tuple[Device, ...]:
    try:
        if host.gpus is None:
            gpus = usable_gpus(host.topology, host.name)
        else:
            gpus = offered_gpus(host.topology, host.name, host.gpus)
    except UserError as error:
        raise request.refuse(str(error)) from None
    for gpu in gpus:
        if not gpu.pus:
            raise request.refuse(f"{host.name} does not report which cores {gpu.name} is next to")
    return gpus
