# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a policy is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.units import many

if TYPE_CHECKING:
    from mpigauge.site.placement.host_resources import HostResources


@dataclass(frozen=True)
class PolicyRequest:
    text: str
    """As it was written: ppr:2:l3."""
    argument: str
    """What stands behind the first colon."""
    hosts: tuple[HostResources, ...]
    """At least one host, in the order of ranks."""
    usual: int
    """Ranks for a policy that has no number of its own."""
    ranks: int | None = None
    """Ranks that were asked for; None: nobody said."""
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The texts of files by their paths as they were written."""

    @property
    def wanted(self) -> int:
        if self.ranks is None:
            return self.usual
        return self.ranks

    def host(self, name: str) -> HostResources:
        return next(host for host in self.hosts if host.name == name)

    def refuse(self, why: str) -> UserError:
        return UserError(f"--place {self.text}: {why}")

    def enough(self, there: int, ranks: int | None = None) -> None:
        """Refuses where there are fewer cores than ranks."""
        wanted = self.wanted if ranks is None else ranks
        if there < wanted:
            raise self.refuse(
                f"there are {many(there, 'core')} that may be used for {wanted} ranks; ask for "
                "fewer ranks, or leave --place away and add --oversubscribe"
            )
