# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The input of a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.units import many

if TYPE_CHECKING:
    from mpigauge.model.placement import Seat
    from mpigauge.site.placement.host_resources import HostResources


@dataclass(frozen=True)
class PolicyRequest:
    text: str
    """The policy in the user's spelling: ppr:2:l3."""
    argument: str
    """The text after the first colon."""
    hosts: tuple[HostResources, ...]
    """At least one host, in the order of ranks."""
    usual: int
    """The default number of ranks for a policy without a number of its own."""
    ranks: int | None = None
    """The requested number of ranks; None: none was requested."""
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The contents of files, by their paths in the user's spelling."""

    @property
    def rank_count(self) -> int:
        if self.ranks is None:
            return self.usual
        return self.ranks

    def host(self, name: str) -> HostResources:
        return next(host for host in self.hosts if host.name == name)

    def spread(self, order: Callable[[HostResources, int], Sequence[int]]) -> list[Seat]:
        """Returns seats host after host, in equal shares. `order` returns the cores of a host, the
        first to be used first, for this many ranks. UserError: a host has too little room."""
        share, more = divmod(self.rank_count, len(self.hosts))
        seats: list[Seat] = []
        for place, host in enumerate(self.hosts):
            count = share + (place < more)
            if len(host_seats := host.seats(order(host, count))) < count:
                raise self.refuse(
                    f"{host.name} has room for {len(host_seats)} ranks, not for {count}"
                )
            seats += host_seats[:count]
        return seats

    def refuse(self, why: str) -> UserError:
        return UserError(f"--place {self.text}: {why}")

    def enough(self, there: int, ranks: int | None = None) -> None:
        """Raises a UserError if there are fewer cores than ranks."""
        needed = self.rank_count if ranks is None else ranks
        if there < needed:
            raise self.refuse(
                f"there are {many(there, 'core')} that may be used for {needed} ranks; ask for "
                "fewer ranks, or leave --place away and add --oversubscribe"
            )
