# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The GPUs of the ranks of a plan, by --gpu."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.memory.buffer_memory import is_on_gpu, needs_driver
from mpigauge.model.cards import NCCL_SUITE
from mpigauge.model.errors import UserError
from mpigauge.model.units import byte_count, many, memory
from mpigauge.site.placement import cores_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mpigauge.measuring.plan.plan import Plan, PlanPart
    from mpigauge.measuring.plan.request import Request
    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.cards import Card
    from mpigauge.model.hosts import HostGpus, HostRanks
    from mpigauge.model.topology import Topology

NEAR = "near"
LEAST_RANKS = 2
"""Ranks of a job by default on a host with one GPU: messages need two."""


def uses_gpus(request: Request, chosen: Iterable[Card]) -> bool:
    """True if a buffer is in memory that the driver of a GPU allocates."""
    return any(map(needs_driver, request.memory)) or uses_nccl(chosen)


def uses_nccl(chosen: Iterable[Card]) -> bool:
    return any(card.suite == NCCL_SUITE for card in chosen)


def check_gpus(request: Request, chosen: Sequence[Card]) -> None:
    """UserError: GPUs or NCCL are named, and nothing uses them."""
    if request.nccl and not uses_nccl(chosen):
        raise UserError(
            f"--nccl has no effect on these benchmarks; add those of {NCCL_SUITE}, such as "
            f"{NCCL_SUITE}:AllReduce"
        )
    named = (("--gpu", request.gpu), ("--cuda", request.cuda))
    for option, value in named if not uses_gpus(request, chosen) else ():
        if value:
            raise UserError(
                f"{option} has no effect on buffers in host memory; add --memory device"
            )


def with_gpus(
    parts: tuple[PlanPart, ...], request: Request, resources: Resources
) -> tuple[PlanPart, ...]:
    """The parts with a GPU for each rank. UserError: a host has too few, or none of this name."""
    words = request.gpu or NEAR
    return tuple(
        part if part.foreign else replace(part, blocks=tuple(_blocks(part, words, resources)))
        for part in parts
    )


def _blocks(part: PlanPart, words: str, resources: Resources) -> Iterator[HostRanks]:
    from mpigauge.site.gpu import assign

    for block in part.blocks:
        topology, gpus = resources.topology(block), resources.gpus_of(block.host)
        seats = [cores_of(entry) for entry in block.bind[: block.ranks]]
        assigned = assign(
            words,
            topology,
            seats or [frozenset()] * block.ranks,
            host=block.host or topology.hostname,
            visible=gpus.visible,
            offered=gpus.offered,
        )
        yield replace(block, gpus=assigned)


def with_room_for_gpus(resources: Resources, words: str) -> Resources:
    """The resources with as many ranks on each host as it has GPUs, or as --gpu names; jobs have
    that many by default. UserError: a host has no GPU."""
    here = resources.machine
    if not resources.hosts:
        limit = _rank_limit(words, resources.gpus_of(""), here.hostname, here)
        return replace(resources, slots=min(limit, here.cores))
    hosts = []
    for host in resources.hosts:
        limit = _rank_limit(words, resources.gpus_of(host.name), host.name, host.topology)
        hosts.append(replace(host, slots=min(limit, host.room)))
    return replace(resources, hosts=tuple(hosts))


def _rank_limit(words: str, gpus: HostGpus, host: str, topology: Topology) -> int:
    if words and words != NEAR:
        return len(words.split(","))
    from mpigauge.site.gpu.usable import offered_gpus, usable_gpus

    if gpus.offered is not None:
        count = len(offered_gpus(topology, host, gpus.offered))
    else:
        count = len(usable_gpus(topology, host, gpus.visible))
    return max(count, LEAST_RANKS)


def check_fit(plan: Plan, part: PlanPart, resources: Resources, largest: int) -> None:
    """UserError: a GPU whose memory is known cannot hold the largest message of its ranks. Managed
    memory counts too: a GPU whose memory is exceeded may hang."""
    for block in part.blocks if any(map(is_on_gpu, plan.memory)) else ():
        sizes = resources.gpus_of(block.host).bytes
        for bus, ranks in Counter(block.gpus[: block.ranks]).items():
            room = sizes.get(bus, 0)
            if largest * ranks > room > 0:
                raise UserError(
                    f"--sizes: {byte_count(largest)} for {many(ranks, 'rank')} on the GPU at {bus} "
                    f"is more than its memory, {memory(room)}"
                )
