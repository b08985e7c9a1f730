# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Two ranks on the hardware threads of one core while others are free."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import pus_of
from mpigauge.model.units import first_few
from mpigauge.products.explain.needs import FACT, machine, seats
from mpigauge.products.explain.places import has_free_cores, possible
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView


@cause(
    "smt-siblings",
    "two ranks on the hardware threads of one core",
    seats,
    machine,
    of=ANY,
    sure_from=FACT,
)
def look(view: RunView) -> Iterator[Finding]:
    on = _threads_of_cores(view)
    named = []
    for (host, core), ranks in on.items():
        if len(set(ranks.values())) > 1:
            named.append(f"ranks {', '.join(map(str, ranks))} on core {core} of {host}")
    if not named or not has_free_cores(view):
        return
    attempt = "a core for each rank, as mpigauge does without --place"
    if possible(view, "core", 2):
        attempt += "; --place core measures just this"
    yield Finding(
        what=f"ranks share the threads of one core: {first_few(named)}",
        likely="they share its execution units and its private caches, and each is slower than it "
        "would be alone",
        evidence=(f"{_cores(view)} cores may be used, {len(on)} have ranks",),
        attempts=(attempt,),
    )


def _threads_of_cores(view: RunView) -> dict[tuple[str, int], dict[int, int]]:
    """The ranks of the first launch that are bound to one hardware thread, each with its thread's
    number, by host and core."""
    first = min(rank.launch for rank in view.run.ranks)
    on: dict[tuple[str, int], dict[int, int]] = defaultdict(dict)
    for rank in view.run.ranks:
        pus, topology = pus_of(rank), view.topologies.get(rank.host)
        if rank.launch != first or topology is None or len(pus) != 1:
            continue
        pu = topology.pu(min(pus))
        if pu:
            on[rank.host, pu.core][rank.rank] = pu.number
    return on


def _cores(view: RunView) -> int:
    return sum(topology.cores for topology in view.topologies.values())
