# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the measurements that match the calls of a profile, and the time that each covers.

A call matches a benchmark of the same name and number of ranks, with messages of the same size,
type, operation and root. The time of a call site is divided among its sizes by count and bytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mpigauge.products.profile.read.layout import Counted

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account
    from mpigauge.products.profile.analyse.entries import Called

LEAST_SHARE = 0.01
"""The least share of the time in MPI of calls that are measured."""
BYTES_OF_LATENCY = 4096
"""The message size that takes about twice as long as an empty message."""
_COLLECTIVES = (
    *("Barrier", "Bcast", "Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block"),
    *("Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall"),
    "Alltoallv",
)
BENCHMARKS = {f"MPI_{name}": name for name in _COLLECTIVES} | {
    "MPI_Sendrecv": "Sendrecv", "MPI_Sendrecv_replace": "Sendrecv",
    "MPI_Send": "PingPong", "MPI_Recv": "PingPong",
}  # fmt: skip
_REDUCTIONS = ("Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block")
_ROOTED = ("Bcast", "Reduce", "Gather", "Gatherv", "Scatter", "Scatterv")
_OF_ALL = ("Alltoallv",)
"""The collectives for which a profile counts the bytes to all ranks, a benchmark to one."""
TYPES = {
    "MPI_DOUBLE": "double", "MPI_DOUBLE_PRECISION": "double", "MPI_FLOAT": "float",
    "MPI_REAL": "float", "MPI_INT": "int", "MPI_INTEGER": "int", "MPI_LONG": "long",
}  # fmt: skip
OPS = {"MPI_SUM": "sum", "MPI_MAX": "max", "MPI_MIN": "min", "MPI_PROD": "prod"}


class Need(NamedTuple):
    """A cell to measure."""

    benchmark: str
    ranks: int
    message_bytes: int
    """The message size; -1: no message."""
    datatype: str = ""
    op: str = ""
    root: int = 0

    @property
    def is_collective(self) -> bool:
        return self.benchmark in _COLLECTIVES


@dataclass(frozen=True)
class Use:
    """The part of a call site that is covered by one cell."""

    called: Called
    need: Need
    calls: float
    """The calls of a rank, in the mean of all ranks of the program."""
    seconds: float
    """The covered time of all ranks in this call site."""
    least_bytes: int
    """The smallest covered message, in bytes."""
    most_bytes: int


def uses_of(account: Account) -> list[Use]:
    """Returns the uses of all call sites whose calls have a benchmark."""
    cells = account.profile.cells
    spots = {spot: number for number, spot in enumerate(account.profile.spots)}
    uses = []
    for called in account.inside:
        if called.spot.call in BENCHMARKS:
            own = cells[(cells["site"] == spots[called.spot]) & (cells["way"] != Counted.REQUESTS)]
            uses += list(_uses(account, called, own))
    return uses


def _uses(account: Account, called: Called, cells: Any) -> Iterator[Use]:
    counts: dict[Need, float] = defaultdict(float)
    ends: dict[Need, list[int]] = defaultdict(list)
    for group in _alike(account, called, cells):
        need = _need(account, called, group)
        counts[need] += float(group["count"].sum())
        ends[need] += _ends(need, group)
    weights = {need: count * (1 + max(need.message_bytes, 0) / BYTES_OF_LATENCY)
               for need, count in counts.items()}  # fmt: skip
    whole = sum(weights.values())
    for need, count in counts.items():
        seconds = called.total_s * weights[need] / whole if whole else 0.0
        calls = count / len(account.ranks)
        yield Use(called, need, calls, seconds, min(ends[need]), max(ends[need]))


def _ends(need: Need, group: Any) -> list[int]:
    """Returns the smallest and the largest message, in bytes as in the benchmark."""
    parts = need.ranks if need.benchmark in _OF_ALL else 1
    return [int(group["least"].min()) // parts, int(group["most"].max()) // parts]


def _alike(account: Account, called: Called, cells: Any) -> Iterator[Any]:
    """Yields groups of cells of one communicator, size and type. Messages are counted when sent,
    those of MPI_Recv when received."""
    way = {"MPI_Recv": Counted.RECEIVED}.get(called.spot.call, Counted.SENT)
    if BENCHMARKS[called.spot.call] in _COLLECTIVES:
        way = Counted.NONE
    kept = cells[cells["way"] == way]
    if BENCHMARKS[called.spot.call] == "Scatterv" and (kept["sends"] == 0).any():
        kept = kept[kept["sends"] == 0]  # the root has the parts of all ranks together
    names = ["comm", "bin", "type"]
    if BENCHMARKS[called.spot.call] in _ROOTED:
        names.append("peer")
    for key in np.unique(kept[names]):
        group = kept[kept[names] == key]
        if not account.profile.comms[int(key["comm"])].remote_size:
            yield group


def _need(account: Account, called: Called, group: Any) -> Need:
    name = BENCHMARKS[called.spot.call]
    comm = account.profile.comms[int(group["comm"][0])]
    ranks = 2 if name == "PingPong" else max(comm.size, 1)
    size = round(int(group["amount"].sum()) / int(group["count"].sum()))
    if name == "Barrier":
        return Need(name, ranks, -1)
    if name in _OF_ALL:
        size = round(size / ranks)
    root = max(int(group["peer"][0]), 0) if name in _ROOTED else 0
    if name not in _REDUCTIONS:
        return Need(name, ranks, size, root=root)
    mpi_type = account.profile.types[int(group["type"][0])]
    kind = TYPES.get(mpi_type.name, "double")
    return Need(name, ranks, size, kind, OPS.get(mpi_type.operation, "sum"), root)


def needed(account: Account, uses: Sequence[Use]) -> dict[Need, float]:
    """Returns the needs with enough of the time in MPI to be measured, and their shares, largest
    first. Rare roots are measured together as root 0."""
    whole = float(account.mpi_s.sum())
    seconds: dict[Need, float] = defaultdict(float)
    for use in uses:
        seconds[use.need] += use.seconds
    for need in list(seconds):
        if need.root and seconds[need] < LEAST_SHARE * whole:
            seconds[need._replace(root=0)] += seconds.pop(need)
    shares = {need: each / whole for need, each in seconds.items() if each >= LEAST_SHARE * whole}
    return dict(sorted(shares.items(), key=lambda each: -each[1]))
