# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The GPUs of a host that a job may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.topology import Device
from mpigauge.site.topology.devices import NVIDIA, nvidia_gpus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.topology import Topology

VISIBLE = "CUDA_VISIBLE_DEVICES"
ORDER = "CUDA_DEVICE_ORDER"
_GPU, _MIG = "GPU-", "MIG-"


def usable_gpus(topology: Topology, host: str, visible: str | None = None) -> tuple[Device, ...]:
    """Returns the GPUs that CUDA programs would have, in the order of their indices.

    `visible` is the value of CUDA_VISIBLE_DEVICES; None: it is not set. UserError: there is no GPU,
    or the variable leaves none.
    """
    gpus = nvidia_gpus(topology.devices)
    if not gpus:
        raise UserError(f"{host} has no NVIDIA GPU{_others(topology)}")
    if visible is None:
        return gpus
    if not visible.strip():
        raise UserError(f"{VISIBLE} is set and empty, which hides all GPUs of {host}; unset it")
    if kept := _named(gpus, visible):
        return kept
    there = ", ".join(f"{index} ({gpu.bus})" for index, gpu in enumerate(gpus))
    raise UserError(f"{VISIBLE}={visible} leaves no GPU of {host}; it has {there}")


def offered_gpus(topology: Topology, host: str, offered: Sequence[str]) -> tuple[Device, ...]:
    """Returns the GPUs at the addresses that the driver reported, in its order. UserError: it
    reported none."""
    if not offered:
        raise UserError(f"the driver of {host} offers no GPU")
    by_address = {device.bus: device for device in topology.devices if device.kind == "gpu"}
    return tuple(by_address.get(bus) or _unplaced(bus) for bus in offered)


def _unplaced(bus: str) -> Device:
    """Returns a GPU of which nothing but its address is known, as where /sys is hidden."""
    return Device(bus, (), "gpu", False, bus, frozenset(), None, vendor=NVIDIA)


def _named(gpus: tuple[Device, ...], visible: str) -> tuple[Device, ...]:
    """Returns the GPUs that the words name. As in CUDA, an unknown word ends the list, a repeated
    one voids it, and of MIG instances only the first counts."""
    kept: list[Device] = []
    for word in (piece.strip() for piece in visible.split(",")):
        gpu = _gpu(gpus, word)
        if gpu is None:
            break
        if gpu in kept:
            return ()
        kept.append(gpu)
        if word.startswith(_MIG):
            break
    return tuple(kept)


def _gpu(gpus: tuple[Device, ...], word: str) -> Device | None:
    """Returns the GPU of an index, of a beginning of its UUID, or of a MIG instance. Nothing in
    files relates an instance's own UUID to a GPU, so it has to be the host's only one."""
    if word.isdecimal():
        return gpus[int(word)] if int(word) < len(gpus) else None
    if word.startswith(_MIG):
        parent = word.removeprefix(_MIG).partition("/")[0]
        return _by_uuid(gpus, parent) or (gpus[0] if len(gpus) == 1 else None)
    return _by_uuid(gpus, word)


def _by_uuid(gpus: tuple[Device, ...], start: str) -> Device | None:
    if not start.startswith(_GPU):
        return None
    matching = [gpu for gpu in gpus if gpu.uuid.startswith(start)]
    return matching[0] if len(matching) == 1 else None


def _others(topology: Topology) -> str:
    names = [device.name for device in topology.devices if device.kind == "gpu"]
    return f" (but {', '.join(names)} of another vendor)" if names else ""
