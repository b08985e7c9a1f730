# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The GPUs of a machine as a table: their links, and their paths to the network cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.width import left_aligned, widths
from mpigauge.site.topology.devices import nvidia_gpus
from mpigauge.site.topology.near import PATHS, UNKNOWN_PATH, nearest_devices, path_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.topology import Device, Topology


def gpu_lines(topology: Topology) -> list[str]:
    """The table, with a row for each NVIDIA GPU; empty: no GPU."""
    gpus = nvidia_gpus(topology.devices)
    if not gpus:
        return []
    cards = cards_to_show(topology)
    heads = ["GPU", "PCI address", *(card.name for card in cards)]
    heads += ["nearest card"] if cards else []
    heads += ["PCIe link", "model"]
    rows = [
        [str(index), gpu.bus, *_to_cards(gpu, cards), link_words(gpu), gpu.model]
        for index, gpu in enumerate(gpus)
    ]
    return [_title(gpus, cards), *_aligned([heads, *rows])]


def nearest_card(topology: Topology, device: Device) -> str:
    """The nearest network cards of a GPU and the path to them, to follow its name; empty: the
    device is no NVIDIA GPU, or no path is known."""
    if device not in nvidia_gpus(topology.devices):
        return ""
    nearest = nearest_devices(device, cards_to_show(topology))
    if not nearest:
        return ""
    names = ", ".join(card.name for card in nearest)
    return f"  nearest card {names} ({path_between(device, nearest[0])})"


def cards_to_show(topology: Topology) -> tuple[Device, ...]:
    """The network cards that matter for GPUs: those of fabrics; all, if there is no fabric."""
    cards = [device for device in topology.devices if device.kind == "network"]
    fabrics = [card for card in cards if card.fabric]
    return tuple(fabrics or cards)


def link_words(gpu: Device) -> str:
    """The fastest and widest link that a GPU supports, and the width if it is now narrower.

    The speed of the moment is left out: an idle GPU slows its link down.
    """
    now, most = gpu.link.rpartition(" x")[2], gpu.link_max.rpartition(" x")[2]
    if gpu.link and gpu.link_max and now != most:
        return f"{gpu.link_max}, now x{now}"
    return gpu.link_max or gpu.link


def _to_cards(gpu: Device, cards: Sequence[Device]) -> list[str]:
    """The paths to all cards, and the names of the nearest."""
    if not cards:
        return []
    nearest = ", ".join(card.name for card in nearest_devices(gpu, cards))
    return [*(path_between(gpu, card) for card in cards), nearest or UNKNOWN_PATH]


def _title(gpus: Sequence[Device], cards: Sequence[Device]) -> str:
    """The title, with the meaning of the paths that occur."""
    there = {path_between(gpu, card) for gpu in gpus for card in cards}
    meanings = ", ".join(f"{word}: {meaning}" for word, meaning in PATHS.items() if word in there)
    if not meanings:
        return "GPUs:"
    return f"GPUs, and their paths to network cards ({meanings}):"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    wide = widths(rows)
    return [f"  {left_aligned(row, wide)}" for row in rows]
