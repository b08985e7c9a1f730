# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Classifies benchmarks by their use of MPI, for causes and models.

A limit for eager messages has no effect on a loop that calls no MPI, and no algorithm is chosen for
a reduction within one rank. Benchmarks of other programs are classified by their names as those of
mpigauge are; unknown ones are not guessed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from mpigauge.model.cards import FIRST_SUITE, NCCL_SUITE, NODE_SUITE, REPLAY_SUITE

if TYPE_CHECKING:
    from mpigauge.model.row import Row

Does = Literal[
    "messages", "collective", "one-sided", "set-up", "local", "files", "nccl", "node", "unknown"
]

ABOUT: dict[Does, str] = {
    "messages": "messages from rank to rank",
    "collective": "collectives",
    "one-sided": "one-sided communication",
    "set-up": "making and freeing what MPI needs",
    "local": "MPI calls without messages",
    "files": "files",
    "nccl": "NCCL",
    "node": "the machine itself, without MPI",
    "unknown": "what is not known",
}
SENDING: frozenset[Does] = frozenset({"messages", "collective"})
"""Benchmarks that send messages by the MPI's own protocols."""
MOVING: frozenset[Does] = SENDING | {"one-sided"}
"""Benchmarks that move data between ranks by MPI."""
CALLING: frozenset[Does] = MOVING | {"set-up", "local", "files"}
"""Benchmarks that call MPI."""
COLLECTIVE: frozenset[Does] = frozenset({"collective"})
ON_GPUS: frozenset[Does] = MOVING | {"nccl"}
"""Benchmarks whose data may be on GPUs."""
ANY: frozenset[Does] = frozenset(ABOUT)

_PLAIN_CALLS = (
    "allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier",
    "bcast", "exscan", "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block",
    "scan", "scatter", "scatterv",
)  # fmt: skip
_CALLS = frozenset((*_PLAIN_CALLS, *(f"neighbor_{call}" for call in _PLAIN_CALLS)))
_SET_UP = re.compile(r".*_init|Comm_.*|Win_.*|Window|Sessions")
_FORM = re.compile(r"(_persist)?(_pure)?(_c)?(MT)?$")
_WHOLE_SUITES: dict[str, Does] = {
    NODE_SUITE: "node",
    "IO": "files",
    "EXT": "one-sided",
    "RMA": "one-sided",
    "ALG": "messages",
    "P2P": "messages",
    "HALO": "messages",
    "FABRIC": "messages",
    REPLAY_SUITE: "messages",
    NCCL_SUITE: "nccl",
}
_OF_MESSAGES = (FIRST_SUITE, "MT", "MPI4", "MORE", "SELFTEST", "OSU")
"""Suites of which messages are what is neither set-up nor a collective."""
_ON_GRIDS = ("NBC", "MPI4", "MORE")
"""Suites whose neighbourhood collectives are of a grid."""
_NEIGHBOURS = re.compile(r"I?neighbor_", re.IGNORECASE)
_ON_RINGS = ("MPI1", "MT", "RMA")
_ROUND = re.compile(r"Sendrecv|Exchange", re.IGNORECASE)
_ONE_SIDED = re.compile(r"Put|Get|Acc|Fetch|Compare")


@dataclass(frozen=True)
class Nature:
    does: Does
    call: str = ""
    """The collective that is called, as MPI spells it in lower case: allreduce, ibcast; empty:
    none, or one whose settings are not known, such as a persistent one."""


@cache
def nature(suite: str, benchmark: str) -> Nature:
    if suite != NODE_SUITE and _SET_UP.fullmatch(benchmark):
        return Nature("set-up")
    if suite in _WHOLE_SUITES:
        return Nature(_WHOLE_SUITES[suite])
    if benchmark == "Reduce_local":
        return Nature("local")
    if collective := _collective(benchmark):
        return collective
    if suite == "OSU" and _ONE_SIDED.match(benchmark):
        return Nature("one-sided")
    return Nature("messages" if suite in _OF_MESSAGES else "unknown")


def nature_of(row: Row) -> Nature:
    return nature(row.cell.suite, row.cell.benchmark)


def own_neighbour(row: Row) -> str:
    """A phrase about ranks that are their own neighbours, whose messages go nowhere; empty: none
    is.

    The ranks of a neighbourhood collective form a periodic grid in two dimensions, as square as it
    can be; of a prime number of ranks it is a line. A ring may be of a single rank.
    """
    name, ranks = row.cell.benchmark, row.ranks
    is_grid = row.cell.suite in _ON_GRIDS and _NEIGHBOURS.match(name)
    is_ring = row.cell.suite in _ON_RINGS and _ROUND.match(name)
    if ranks == 1 and (is_grid or is_ring):
        return "the rank is its own neighbour"
    if is_grid and all(ranks % side for side in range(2, math.isqrt(ranks) + 1)):
        return "each rank is its own neighbour along one side of the grid"
    return ""


def _collective(benchmark: str) -> Nature | None:
    """Bcast, Ibcast_pure, Bcast_persist, Bcast_c and BcastMT are all of bcast or ibcast."""
    name = _FORM.sub("", benchmark).lower()
    blocking = name[1:] if name.startswith("i") and name[1:] in _CALLS else name
    if blocking not in _CALLS:
        return None
    return Nature("collective", "" if "_persist" in benchmark else name)
