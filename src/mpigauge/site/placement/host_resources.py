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
    """As it was named, which is what launchers are told."""
    topology: Topology
    slots: int | None = None
    """Ranks that it may have; None: not said, so one for each core."""
    most: int | None = None
    """The most ranks that may share its cores; None: any number."""

    @property
    def room(self) -> int:
        """Ranks that it may have, as said, or one for each core."""
        if self.slots is None:
            return self.topology.cores
        return self.slots

    @cached_property
    def levels(self) -> Levels:
        return Levels.of(self.topology)

    @cached_property
    def cores(self) -> tuple[int, ...]:
        """The first usable PU of each core, neighbours beside each other."""
        return tuple(pu.number for pu in self.levels.cores())

    def seat(self, *pus: int) -> Seat:
        return Seat(self.name, frozenset(pus))

    def seats(self, pus: Sequence[int]) -> list[Seat]:
        """One for each of these PUs, as long as there is room."""
        return [self.seat(pu) for pu in pus[: self.room]]

    def outside(self, pu: int) -> str:
        """Why this PU cannot be had."""
        allowed = as_list(self.topology.allowed)
        if any(each.number == pu for each in self.topology.pus) or pu in self.topology.left_out:
            return f"core {pu} may not be used; the cpuset of this process is {allowed}"
        return f"there is no core {pu} on {self.name}; those that may be used are {allowed}"
