# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Where the ranks of a plan go: onto the cores of this machine, or of hosts that have answered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge import placement
from mpigauge.model.errors import UserError
from mpigauge.model.hosts import Node, Seats
from mpigauge.topology import cold_bytes

if TYPE_CHECKING:
    from mpigauge.model.machine import Machine
    from mpigauge.plan.plan import Part
    from mpigauge.plan.request import Request


@dataclass(frozen=True)
class Ground:
    machine: Machine
    """The one we stand on."""
    nodes: tuple[Node, ...] = ()
    """The hosts to be measured; none: this machine."""
    ppn: int | None = None
    """Ranks for each host; None: up to its slots or cores."""

    @property
    def hosts(self) -> int:
        return max(1, len(self.nodes))

    @property
    def room(self) -> int:
        """Ranks that there can be without sharing cores, or as hostfile and --ppn say."""
        return placement.room(self.nodes, self.ppn) if self.nodes else self.machine.cores

    def settle(self, part: Part, request: Request) -> Part:
        """The part with a place for each rank, or a sentence why there is none."""
        if self.nodes:
            return replace(part, seats=self._seats(part.world_ranks, request))
        check_slots(part.world_ranks, self.machine.cores, request.oversubscribe)
        return replace(part, bind=_bind(self.machine, part.world_ranks, request))

    def cold_bytes(self, part: Part) -> int:
        """What makes all caches of a rank cold, on the host where that takes most."""
        if not part.seats:
            return cold_bytes(self.machine, part.world_ranks)
        machines = {node.name: node.machine for node in self.nodes}
        return max(cold_bytes(machines[seat.host], seat.ranks) for seat in part.seats)

    def crowded(self, part: Part) -> bool:
        """Whether ranks have to share cores anywhere."""
        cores = {node.name: node.machine.cores for node in self.nodes}
        return (
            part.world_ranks > self.machine.cores
            if not part.seats
            else any(seat.ranks > cores[seat.host] for seat in part.seats)
        )

    def _seats(self, world: int, request: Request) -> tuple[Seats, ...]:
        full = request.np is not None or world >= self.room
        ppn = self.ppn if full else None  # a pair of quick is spread over two hosts
        counts = placement.share_out(self.nodes, world, ppn, request.oversubscribe)
        taken = [(node, ranks) for node, ranks in zip(self.nodes, counts, strict=True) if ranks]
        if request.bind and len(request.bind) != max(ranks for _, ranks in taken):
            raise UserError(
                f"--bind names cores for {len(request.bind)} ranks, a host has up to "
                f"{max(ranks for _, ranks in taken)}; name one entry for each rank of a host"
            )
        seats = [_seat(node, ranks, request) for node, ranks in taken]
        return _alike(seats)


def check_slots(world: int, cores: int, oversubscribe: bool) -> None:
    if world > cores and not oversubscribe:
        named = "1 core" if cores == 1 else f"{cores} cores"
        raise UserError(
            f"{world} ranks are more than the {named} that may be used here; ranks that share a "
            "core measure the scheduler, add --oversubscribe if that is wanted"
        )


def _seat(node: Node, ranks: int, request: Request) -> Seats:
    if ranks > node.machine.cores and not request.oversubscribe:
        raise UserError(
            f"{ranks} ranks are more than the cores of host {node.name}, which has "
            f"{node.machine.cores}; ranks that share a core measure the scheduler, add "
            "--oversubscribe if that is wanted"
        )
    try:
        bind = _bind(node.machine, ranks, request)
    except UserError as error:
        raise UserError(f"on host {node.name}: {error}") from None
    return Seats(node.name, ranks, bind, node.machine.hostname)


def _bind(machine: Machine, ranks: int, request: Request) -> tuple[str, ...]:
    """The cores as said, or a core for each rank where there are enough."""
    if request.bind is None:
        return placement.one_core_each(machine, ranks)
    bind = request.bind[:ranks]
    if bind:
        placement.check(
            request.bind if ranks > len(bind) else bind, machine, ranks, request.oversubscribe
        )
    return bind


def _alike(seats: list[Seats]) -> tuple[Seats, ...]:
    """Hosts whose cores are a beginning of the longest list get all of it: one command for all."""
    longest = max((seat.bind for seat in seats), key=len)
    return tuple(
        replace(seat, bind=longest)
        if seat.bind and seat.bind == longest[: len(seat.bind)]
        else seat
        for seat in seats
    )
