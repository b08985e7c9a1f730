# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Two ranks on one core, or on the threads of one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import pus_of
from mpigauge.model.units import first_few
from mpigauge.products.explain.needs import FACT, seats
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import ANY
from mpigauge.result.settings import existing

if TYPE_CHECKING:
    from mpigauge.model.record import Rank
    from mpigauge.result.run_view import RunView


@cause("one-core", "two ranks on one CPU, which take turns", seats, of=ANY, sure_from=FACT)
def look(view: RunView) -> Iterator[Finding]:
    named = []
    for (host, pu), ranks in _places(view).items():
        if len(ranks) > 1:
            named.append(f"{_ranks(ranks)} on CPU {pu} of {host}")
    if not named:
        return
    evidence = ["each of them read back that it may run there only"]
    if _is_flagged(view):
        evidence.append("mpigauge flagged them: oversubscribed")
    yield Finding(
        what=f"ranks share a CPU: {first_few(named)}",
        likely="they take turns, so times between them are those of the kernel's scheduler",
        evidence=tuple(evidence),
        attempts=(
            (
                "fewer ranks, or more cores: `mpigauge topo` shows those that may be "
                "used; a batch system or container may have given fewer than are there"
            ),
            *_yielding(view),
        ),
        void=True,
    )


def _places(view: RunView) -> dict[tuple[str, int], list[Rank]]:
    """The ranks of the first launch that are bound to one CPU, by it."""
    first = min(rank.launch for rank in view.run.ranks)
    ranks_of: dict[tuple[str, int], list[Rank]] = defaultdict(list)
    for rank in view.run.ranks:
        pus = pus_of(rank)
        if rank.launch == first and len(pus) == 1:
            ranks_of[rank.host, min(pus)].append(rank)
    return ranks_of


def _yielding(view: RunView) -> list[str]:
    """The settings by which the MPI of the run gives its core away while it waits."""
    yielding = ("OMPI_MCA_mpi_yield_when_idle", "MPIR_CVAR_POLLS_BEFORE_YIELD", "I_MPI_WAIT_MODE")
    names = existing(view, *yielding)
    return [f"where it is wanted: {name}, so that waiting ranks give it away" for name in names]


def _ranks(on: list[Rank]) -> str:
    return f"ranks {', '.join(str(rank.rank) for rank in on)}"


def _is_flagged(view: RunView) -> bool:
    return any("oversubscribed" in row.flags for row in view.rows)
