# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks beside a NUMA node that has little or no memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median
from typing import TYPE_CHECKING

from mpigauge.model.units import first_few, memory
from mpigauge.products.explain.needs import FACT, machine, seats
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY

if TYPE_CHECKING:
    from mpigauge.model.record import Rank
    from mpigauge.result.run_view import RunView

LEAST_SHARE = 0.5
_OTHERS = "cores beside a node that has memory (--place cores:…; `mpigauge topo` shows them)"


@cause(
    "far-memory",
    "ranks beside a NUMA node that has little or no memory",
    seats,
    machine,
    of=ANY,
    sure_from=FACT,
)
def look(view: RunView) -> Iterator[Finding]:
    poor = {}
    evidence: dict[str, None] = {}
    for rank in view.run.ranks:
        why = _why(view, rank)
        if why:
            poor[rank.host, rank.rank, rank.numa] = rank
            evidence[why] = None
    if poor:
        named = [f"rank {rank}" for _, rank, _ in poor]
        yield Finding(
            what=f"{first_few(named)}: beside a NUMA node with too little memory",
            likely="their buffers lie in the memory of another node, which is slower to reach and "
            "shared",
            evidence=tuple(evidence),
            attempts=(
                *_other_cores(view, poor.values()),
                "all banks of memory filled alike: ask who runs the machine",
            ),
        )


def _other_cores(view: RunView, poor: Iterable[Rank]) -> list[str]:
    """The advice to use other cores, if there are any next to enough memory."""
    beside = {(rank.host, rank.numa) for rank in poor}
    for host, topology in view.topologies.items():
        for node in topology.numa:
            usable = node.pus & topology.allowed and node.bytes
            if usable and (host, node.number) not in beside:
                return [_OTHERS]
    return []


def _why(view: RunView, rank: Rank) -> str:
    """Empty: its node has as much memory as the others, or is not known."""
    topology = view.topologies.get(rank.host)
    if topology is None:
        return ""
    nodes = {node.number: node.bytes for node in topology.numa if node.pus}
    sizes = [size for size in nodes.values() if size is not None]
    own = nodes.get(rank.numa)
    if own is None or len(sizes) < 2:
        return ""
    if rank.numa not in topology.allowed_numa:
        return f"memory of NUMA node {rank.numa} of {rank.host} may not be used"
    if own < LEAST_SHARE * median(sizes):
        usual = memory(median(sizes))
        return f"NUMA node {rank.numa} of {rank.host} has {memory(own)}, the others about {usual}"
    return ""
