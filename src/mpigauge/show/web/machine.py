# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The structure of the machine, and the placement of its ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.cpu_lists import pus_of
from mpigauge.show.topology.picture import picture

if TYPE_CHECKING:
    from mpigauge.result.run_result import RunResult

MOST_MACHINES = 4


class Built(NamedTuple):
    name: str
    svg: str


def machines(shown: RunResult) -> Iterator[Built]:
    """The machines that ranks were on; of a run without ranks all that it describes."""
    written = _on_pus(shown)
    for name, topology in shown.view.topologies.items():
        if name in written or not written:
            yield Built(name, picture(topology, written.get(name, {})))


def _on_pus(shown: RunResult) -> Mapping[str, Mapping[int, str]]:
    """The ranks that ran on each PU of each host in the first launch."""
    by_host: dict[str, dict[int, list[int]]] = {}
    first = min((rank.launch for rank in shown.run.ranks), default=0)
    for rank in shown.run.ranks:
        if rank.launch != first:
            continue
        of_host = by_host.setdefault(rank.host, {})
        if rank.wanted_cpuset:
            for pu in pus_of(rank):
                of_host.setdefault(pu, []).append(rank.rank)
    written: dict[str, dict[int, str]] = {}
    for host, of_host in by_host.items():
        written[host] = {}
        for pu, ranks in of_host.items():
            written[host][pu] = f"rank {', '.join(map(str, ranks))}"
    return written


def hosts_left(machines: Sequence[object]) -> str:
    left = len(machines) - MOST_MACHINES
    if left <= 0:
        return ""
    return f"{left} more hosts are described in the passport."


def seats(shown: RunResult) -> Iterator[tuple[str, ...]]:
    first = min((rank.launch for rank in shown.run.ranks), default=0)
    for rank in sorted(shown.run.ranks, key=lambda rank: rank.rank):
        if rank.launch == first:
            numa = str(rank.numa) if rank.numa >= 0 else ""
            yield str(rank.rank), rank.host, rank.cpuset, numa
