# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks that are not where they were wanted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import parse_list, pus_of
from mpigauge.model.units import first_few
from mpigauge.products.explain.needs import FACT, seats
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY

if TYPE_CHECKING:
    from mpigauge.model.record import Rank
    from mpigauge.result.run_view import RunView


@cause("not-bound", "ranks that are not where they were wanted", seats, of=ANY, sure_from=FACT)
def look(view: RunView) -> Iterator[Finding]:
    wrong = [rank for rank in view.run.ranks if _is_elsewhere(rank)]
    if wrong:
        named = [f"rank {r.rank} of launch {r.launch} has {r.cpuset}" for r in wrong]
        cpus = ", ".join(dict.fromkeys(rank.wanted_cpuset for rank in wrong[:4]))
        yield Finding(
            what=f"{len(wrong)} of {len(view.run.ranks)} ranks are not bound as wanted",
            likely="the launcher, the batch system or a cgroup binds after mpigauge has, or allows "
            "other CPUs only",
            evidence=(f"wanted CPUs {cpus}; read back: {first_few(named)}",),
            attempts=(
                "`mpigauge topo` inside of the job shows which CPUs may be used",
                "`--bind-by launcher`, so that the launcher binds to the same CPUs",
            ),
        )


def _is_elsewhere(rank: Rank) -> bool:
    return bool(rank.wanted_cpuset) and pus_of(rank) != parse_list(rank.wanted_cpuset)
