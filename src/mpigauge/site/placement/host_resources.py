# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A host that ranks can be placed on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import as_list
from mpigauge.model.placement import Seat
from mpigauge.site.topology.levels import Levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.model.topology import Topology


@dataclass(frozen=True)
class HostResources:
    name: str
    """The name in the user's spelling, as for launchers."""
    topology: Topology
    slots: int | None = None
    """The number of ranks that it may have; None: one for each core."""
    most: int | None = None
    """The maximum number of ranks that may share its cores; None: no limit."""
    gpus: tuple[str, ...] | None = None
    """The PCI addresses of the GPUs that a job may use, in the order of their indices; None: all
    of NVIDIA's."""

    @property
    def room(self) -> int:
        """The number of ranks that it may have: its slots, or one for each core."""
        if self.slots is None:
            return self.topology.cores
        return self.slots

    @cached_property
    def levels(self) -> Levels:
        return Levels.of(self.topology)

    @cached_property
    def cores(self) -> tuple[int, ...]:
        """The first usable PU of each core, in the order of the tree."""
        return tuple(pu.number for pu in self.levels.cores())

    def seat(self, *pus: int) -> Seat:
        return Seat(self.name, frozenset(pus))

    def seats(self, pus: Sequence[int]) -> list[Seat]:
        """Returns a seat for each of these PUs, at most `room` seats."""
        return [self.seat(pu) for pu in pus[: self.room]]

    def outside(self, pu: int) -> str:
        """Returns the reason why this PU is not usable."""
        allowed = as_list(self.topology.allowed)
        if any(each.number == pu for each in self.topology.pus) or pu in self.topology.left_out:
            return f"core {pu} may not be used; the cpuset of this process is {allowed}"
        return f"there is no core {pu} on {self.name}; those that may be used are {allowed}"
