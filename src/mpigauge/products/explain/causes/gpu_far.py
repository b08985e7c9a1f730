# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks on a core and on a GPU of two NUMA nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.units import first_few
from mpigauge.products.explain.needs import FACT, gpus
from mpigauge.products.explain.on_gpu import ranks_with_gpus
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ON_GPUS

if TYPE_CHECKING:
    from mpigauge.model.record import Rank
    from mpigauge.result.run_view import RunView


_MOST = 4
"""Ranks whose places are named."""


@cause("gpu-far", "a GPU on another NUMA node than the core", gpus, of=ON_GPUS, sure_from=FACT)
def look(view: RunView) -> Iterator[Finding]:
    far = [rank for rank in ranks_with_gpus(view) if _is_far(rank)]
    if far:
        named = first_few(dict.fromkeys(f"rank {rank.rank}" for rank in far))
        yield Finding(
            what=f"{named}: the GPU is on another NUMA node than the core",
            likely="whatever passes between core and GPU crosses the link between the nodes: small "
            "messages take longer, and copies share that link",
            evidence=tuple(dict.fromkeys(map(_place, far)))[:_MOST],
            attempts=(
                (
                    "--gpu near, which gives each rank the nearest GPU, or --place gpu, which puts "
                    "ranks on the cores nearest to the GPUs"
                ),
                "in programs: bind each rank to a core beside its GPU (`mpigauge topo`)",
            ),
        )


def _is_far(rank: Rank) -> bool:
    return rank.gpu.numa >= 0 and rank.numa >= 0 and rank.gpu.numa != rank.numa


def _place(rank: Rank) -> str:
    return (
        f"rank {rank.rank} of {rank.host}: core {rank.cpuset} on NUMA node {rank.numa}, GPU "
        f"{rank.gpu.bus} on node {rank.gpu.numa}"
    )
