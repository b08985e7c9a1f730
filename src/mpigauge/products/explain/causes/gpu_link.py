# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A PCIe link of a GPU that is slower than it can be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import first_few, percent
from mpigauge.products.explain.needs import FACT, gpus
from mpigauge.products.explain.on_gpu import link_speed, ranks_with_gpus
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ON_GPUS

if TYPE_CHECKING:
    from mpigauge.model.record import Rank
    from mpigauge.result.run_view import RunView


@cause("gpu-link", "a PCIe link of a GPU below its maximum", gpus, of=ON_GPUS, sure_from=FACT)
def look(view: RunView) -> Iterator[Finding]:
    slow = [rank for rank in ranks_with_gpus(view) if 0 < _speed(rank) < link_speed(_most(rank))]
    if not slow:
        return
    narrow = any(_lanes(rank.gpu.link) < _lanes(_most(rank)) for rank in slow)
    if narrow:
        likely = "the GPU is not fully seated, sits in a slot with fewer lanes, or a lane is broken"
    else:
        likely = (
            "the slot, a riser or a setting of the firmware holds the link down; an idle GPU also "
            "slows its link down, and wakes it up when data come"
        )
    buses = first_few(dict.fromkeys(rank.gpu.bus for rank in slow))
    yield Finding(
        what=f"GPU {buses}: its PCIe link is slower than it can be",
        likely=likely,
        proved=narrow,
        evidence=tuple(dict.fromkeys(map(_link, slow))),
        attempts=(
            "`nvidia-smi -q -d PCIE` while data are copied: is the link still slow then?",
            "the same run on another GPU of this model (--gpu)",
            "ask the administrator to reseat the card and to check the firmware's settings",
        ),
    )


def _link(rank: Rank) -> str:
    share = percent(_speed(rank) / link_speed(_most(rank)))
    return f"{rank.gpu.bus} of {rank.host}: {rank.gpu.link}, {share} of {_most(rank)}"


def _most(rank: Rank) -> str:
    return rank.gpu.link_max


def _speed(rank: Rank) -> float:
    return link_speed(rank.gpu.link)


def _lanes(link: str) -> int:
    return int(link.rpartition("x")[2])
