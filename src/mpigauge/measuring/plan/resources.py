# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The cores for the ranks of a plan: of this machine, or of hosts that were probed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.hosts import HostGpus
from mpigauge.model.units import many
from mpigauge.site import placement
from mpigauge.site.topology import cold_bytes

if TYPE_CHECKING:
    from mpigauge.measuring.plan.plan import PlanPart
    from mpigauge.measuring.plan.request import Request
    from mpigauge.model.hosts import HostRanks
    from mpigauge.model.placement import Placement
    from mpigauge.model.topology import Topology
    from mpigauge.site.placement import HostResources

GPU = "gpu"
"""The policy that places ranks next to GPUs."""


@dataclass(frozen=True)
class Resources:
    machine: Topology
    """This machine, or one that is read from a file."""
    hosts: tuple[HostResources, ...] = ()
    """The hosts to be measured; empty: this machine."""
    ppn: int | None = None
    """Ranks for each host; None: up to its slots or cores."""
    slots: int | None = None
    """The number of ranks that this machine may have by default; None: one for each core."""
    gpus: Mapping[str, HostGpus] = field(default_factory=dict, hash=False)
    """The GPUs of hosts that were queried; that of this machine has the name ''."""

    @cached_property
    def all_hosts(self) -> tuple[HostResources, ...]:
        """The hosts, at least one."""
        here = placement.HostResources(self.machine.hostname, self.machine, self.slots)
        return self.hosts or (here,)

    def gpus_of(self, host: str) -> HostGpus:
        """The GPUs of a host; empty: those of this machine."""
        return self.gpus.get(host, HostGpus())

    @property
    def room(self) -> int:
        """The number of ranks without shared cores, or as hostfile and --ppn specify."""
        return placement.room(self.all_hosts, self.ppn)

    def placements(self, request: Request, usual: int) -> tuple[Placement, ...]:
        """One placement for each requested policy, else one core for each of the `usual` ranks."""
        placements = self._asked(request, usual)
        if not request.place:
            placements = (self._even(request, usual),)
        if not request.oversubscribe:
            for each in placements:
                self._check(each)
        return placements

    def _asked(self, request: Request, usual: int) -> tuple[Placement, ...]:
        """The placements that the policies give on the hosts, one of each name."""
        hosts = [replace(host, slots=self.ppn or host.slots) for host in self.all_hosts]
        if GPU in request.place:
            hosts = [self._with_gpus(host, request.gpu) for host in hosts]
        ranks = request.np if request.np is not None or self.ppn is None else self.room
        by_name = {}
        for word in request.place:
            for each in placement.place(word, hosts, usual, ranks, request.rankfiles):
                by_name[each.name] = each
        return tuple(by_name.values())

    def _with_gpus(self, host: HostResources, words: str) -> HostResources:
        """The host with the GPUs that its ranks get in turn. UserError: it has none."""
        from mpigauge.site.gpu.assign import in_turn

        there = self.gpus_of(host.name if self.hosts else "")
        gpus = in_turn(
            words, host.topology, host=host.name, visible=there.visible, offered=there.offered
        )
        return replace(host, gpus=gpus)

    def one_placement(self, request: Request, usual: int, what: str) -> Placement:
        """The only placement. UserError: several were requested; it begins with `what`: "a map is
        of"."""
        placements = self.placements(request, usual)
        if len(placements) != 1:
            names = ", ".join(each.name for each in placements)
            raise UserError(f"{what} one placement, not {len(placements)} ({names}); name one")
        return placements[0]

    def seated(self, part: PlanPart, where: Placement) -> PlanPart:
        """The part with a place for each rank."""
        blocks = placement.blocks(where)
        if self.hosts:
            names = {site.name: site.topology.hostname for site in self.hosts}
            blocks = tuple(replace(block, hostname=names[block.host]) for block in blocks)
        else:
            blocks = tuple(replace(block, host="") for block in blocks)
        return replace(
            part,
            world_ranks=where.ranks,
            placement=where.name,
            blocks=blocks,
            in_turn=placement.in_turn(where),
        )

    def topology(self, block: HostRanks) -> Topology:
        """The topology of the host of these ranks."""
        for host in self.hosts:
            if host.name == block.host:
                return host.topology
        return self.machine

    def cold_bytes(self, part: PlanPart) -> int:
        """The bytes that evict all caches of a rank, on the host that needs most; 0: nobody is
        placed, as for a program that starts its own ranks."""
        each = (cold_bytes(self.topology(block), block.ranks) for block in part.blocks)
        return max(each, default=0)

    def crowded(self, part: PlanPart) -> bool:
        """True if ranks have to share cores on any host."""
        return any(block.ranks > self.topology(block).cores for block in part.blocks)

    def _even(self, request: Request, world: int) -> Placement:
        if not self.hosts and not request.oversubscribe:
            check_room_here(world, self.machine.cores)
        full = request.np is not None or world >= self.room
        ppn = self.ppn if full else None  # a pair of quick is spread over two hosts
        bound = not request.unbound
        return placement.even(
            self.all_hosts, world, ppn, request.oversubscribe or not self.hosts, bound
        )

    def _check(self, where: Placement) -> None:
        """UserError: a host has more ranks than cores or slots, or a core is used twice."""
        placement.check_alone(where)
        by_name = {host.name: host for host in self.all_hosts}
        for name, seats in where.by_host.items():
            host = by_name[name]
            if not self.hosts:
                check_room_here(len(seats), host.topology.cores)
            elif len(seats) > host.topology.cores:
                raise UserError(
                    f"{len(seats)} ranks are more than the cores of host {name}, which has "
                    f"{host.topology.cores}; ranks that share a core measure the scheduler, add "
                    "--oversubscribe if that is wanted"
                )
            elif len(seats) > (self.ppn or host.room):
                raise UserError(
                    f"--place {where.name} puts {len(seats)} ranks on host {name}, which has room "
                    f"for {self.ppn or host.room}; name more hosts or slots, or add --oversubscribe"
                )


def check_room_here(world: int, cores: int) -> None:
    """UserError: ranks of this machine would share cores."""
    if world > cores:
        raise UserError(
            f"{world} ranks are more than the {many(cores, 'core')} that may be used here; "
            "ranks that share a core measure the scheduler, add --oversubscribe if that is wanted"
        )
