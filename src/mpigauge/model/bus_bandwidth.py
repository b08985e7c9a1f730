# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The bus bandwidth of a collective, as nccl-tests defines it, for MPI and for NCCL.

It is the rate at which each rank would have to send if the collective moved as few bytes as
possible over links of equal speed, so that it does not depend on the number of ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.cards import FIRST_SUITE, NCCL_SUITE
from mpigauge.model.data_memory import is_on_gpu

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell

_WHOLE = ("bcast", "broadcast", "reduce", "sendrecv")
_TWICE = ("allreduce",)
_OF_PARTS = (
    "reducescatter", "reducescatterblock", "allgather", "allgatherv", "alltoall", "alltoallv",
    "gather", "gatherv", "scatter", "scatterv", "hypercube",
)  # fmt: skip
"""Collectives whose message is the part of one rank."""
_TOTAL = "size=total"
"""The setting of rows whose size is that of all parts together."""


def bus_bytes(cell: Cell) -> float:
    """The bytes that count in one printed time; 0: nccl-tests has no definition."""
    if cell.suite not in (FIRST_SUITE, NCCL_SUITE) or cell.ranks < 2 or cell.message_bytes <= 0:
        return 0.0
    name = cell.benchmark.lower().replace("_", "")
    size, others = float(cell.message_bytes), cell.ranks - 1
    if name in _WHOLE:
        return size
    if name in _TWICE:
        return 2 * size * others / cell.ranks
    if name not in _OF_PARTS:
        return 0.0
    if _TOTAL in cell.settings.split():
        return size * others / cell.ranks
    return size * others


def is_shown(cell: Cell) -> bool:
    """True if tables for people show the bus bandwidth: of NCCL, and of data on a GPU."""
    return cell.suite == NCCL_SUITE or is_on_gpu(cell.memory)
