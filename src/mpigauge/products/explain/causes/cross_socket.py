# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Two ranks on two sockets where closer cores were free."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import pus_of
from mpigauge.model.placement_words import SOCKETS
from mpigauge.products.explain.needs import FACT, machine, seats
from mpigauge.products.explain.places import possible
from mpigauge.products.explain.registry import cause
from mpigauge.result.finding import Finding
from mpigauge.result.nature import MOVING
from mpigauge.result.stats.remarks import name_cells
from mpigauge.site.topology.levels import DISTANCES, MEANING, Levels

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.run_view import RunView


@cause(
    "cross-socket",
    "two ranks on two sockets where closer cores were free",
    seats,
    machine,
    of=MOVING,
    sure_from=FACT,
)
def look(view: RunView) -> Iterator[Finding]:
    """Reports default placements only: with a policy or a map of pairs, the distance was chosen."""
    usual = [row for row in view.rows if not row.cell.placement and not row.cell.members]
    far = [row for row in usual if _level(view, row) == SOCKETS]
    if not far:
        return
    host = view.ranks_of(far[0])[0].host
    closer = Levels.of(view.topologies[host]).shared()
    nearest = next(
        (name for name in DISTANCES if name in closer and name not in ("pu", "core")), ""
    )
    if not nearest or nearest == SOCKETS:
        return
    pus = [sorted(pus_of(rank)) for rank in view.ranks_of(far[0])]
    yield Finding(
        what=f"{name_cells(far)}: the two ranks were on two sockets",
        likely="messages go through the link between the sockets, and memory of one is far "
        "from the other",
        evidence=(
            (
                f"they were on CPUs {pus[0][0]} and {pus[1][0]} of {host}; {closer[nearest]} "
                f"pairs of {MEANING[nearest]} may be used"
            ),
        ),
        attempts=tuple(_attempts(view, nearest)),
    )


def _attempts(view: RunView, nearest: str) -> Iterator[str]:
    if possible(view, nearest, 2) and possible(view, SOCKETS, 2):
        yield f"--place {nearest},sockets measures both"
    yield f"in programs: bind neighbours to {MEANING[nearest]}"


def _level(view: RunView, row: Row) -> str:
    """Returns the distance of the two ranks of a row; empty: not two ranks, or unknown."""
    ranks = view.ranks_of(row)
    if len(ranks) != 2 or ranks[0].host != ranks[1].host:
        return ""
    topology = view.topologies.get(ranks[0].host)
    first, second = (pus_of(rank) for rank in ranks)
    if not topology or len(first) != 1 or len(second) != 1:
        return ""
    levels = Levels.of(topology)
    if min(first) in levels.around and min(second) in levels.around:
        return levels.closest(min(first), min(second))
    return ""
