# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Two ranks on the hardware threads of one core while others are free."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.features.explain.needs import FACT, machine, seats
from mpigauge.features.explain.places import has_free_cores, possible
from mpigauge.features.explain.registry import cause
from mpigauge.model.cpu_lists import pus_of
from mpigauge.model.units import first_few
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
    first = min(rank.launch for rank in view.run.ranks)
    on: dict[tuple[str, int], dict[int, int]] = defaultdict(dict)
    for rank in view.run.ranks:
        pus = pus_of(rank)
        topology = view.topologies.get(rank.host)
        pu = topology.pu(min(pus)) if topology and len(pus) == 1 else None
        if pu and rank.launch == first:
            on[rank.host, pu.core][rank.rank] = pu.number
    shared = {core: ranks for core, ranks in on.items() if len(set(ranks.values())) > 1}
    if not shared or not has_free_cores(view):
        return
    named = [
        f"ranks {', '.join(map(str, ranks))} on core {core} of {host}"
        for (host, core), ranks in shared.items()
    ]
    yield Finding(
        what=f"ranks sit on the threads of one core: {first_few(named)}",
        likely="they share its execution units and its private caches, and each is slower than it "
        "would be alone",
        evidence=(f"{_cores(view)} cores may be used, {len(on)} have ranks",),
        attempts=(
            "a core for each rank, as mpigauge does without --place"
            + ("; --place core measures just this" if possible(view, "core", 2) else ""),
        ),
    )


def _cores(view: RunView) -> int:
    return sum(topology.cores for topology in view.topologies.values())
