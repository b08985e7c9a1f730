# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The placements that the machine of a run offers: no others are named in a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import pus_of
from mpigauge.model.errors import UserError
from mpigauge.site.placement import HostResources, place

if TYPE_CHECKING:
    from mpigauge.model.topology import Topology
    from mpigauge.result.run_view import RunView


def possible(view: RunView, policy: str, ranks: int) -> bool:
    """True if `--place policy` is possible there for so many ranks; False if the run does not
    describe its machine."""
    hosts = [HostResources(name, topology) for name, topology in view.topologies.items()]
    try:
        return bool(hosts) and bool(place(policy, hosts, ranks, ranks))
    except UserError:
        return False


def has_free_cores(view: RunView) -> bool:
    """True if there are usable cores without a rank, according to the run."""
    return any(_free_cores(view, host, topology) for host, topology in view.topologies.items())


def _free_cores(view: RunView, host: str, topology: Topology) -> set[int]:
    """The cores of this host that may be used and on whose PUs no rank was."""
    taken: set[int] = set()
    for rank in view.run.ranks:
        if rank.host == host:
            taken.update(pus_of(rank))
    usable, busy = set(), set()
    for pu in topology.usable:
        usable.add(pu.core)
        if pu.number in taken:
            busy.add(pu.core)
    return usable - busy
