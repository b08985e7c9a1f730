# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The benchmarks of NCCL that other programs print: their names, and their cards."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from mpigauge.model.cards import NCCL_SUITE, Card
from mpigauge.runs.readers.known import card_of

EACH, TOGETHER = "each", "end"
"""Values of the column `completion`: synchronised after each call, or once after many."""
_OF_PROGRAM = {
    "all_reduce": "AllReduce", "broadcast": "Broadcast", "reduce": "Reduce",
    "all_gather": "AllGather", "reduce_scatter": "ReduceScatter", "alltoall": "AlltoAll",
    "sendrecv": "SendRecv", "gather": "Gather", "scatter": "Scatter", "hypercube": "HyperCube",
}  # fmt: skip
"""Benchmarks by the programs of nccl-tests, without their ending _perf."""
_OF_CALL = {
    "Allreduce": "AllReduce", "Bcast": "Broadcast", "Allgather": "AllGather",
    "Reduce_scatter": "ReduceScatter", "Alltoall": "AlltoAll",
}  # fmt: skip
"""Benchmarks by the names of MPI's calls."""
_REDUCING = ("AllReduce", "Reduce", "ReduceScatter")
PER_RANK = ("AllGather", "ReduceScatter", "AlltoAll", "Gather", "Scatter", "HyperCube")
"""Benchmarks whose message is the part of one rank; nccl-tests prints the size of all parts."""


def name_of_program(program: str) -> str:
    """The benchmark of a program such as all_reduce_perf."""
    stem = program.removesuffix("_perf")
    return _OF_PROGRAM.get(stem) or "".join(word.capitalize() for word in stem.split("_"))


def name_of_call(call: str) -> str:
    """The benchmark of NCCL that does what a benchmark of MPI does."""
    return _OF_CALL.get(call, call)


@lru_cache(maxsize=256)
def nccl_card(name: str, time: str = "call", columns: str = "collective") -> Card:
    """The card of a benchmark of NCCL. `time` and `columns` are those of a card."""
    if ours := card_of(NCCL_SUITE, name):
        return replace(ours, rooted=False, by_default=False)
    return Card(
        suite=NCCL_SUITE, name=name, about=f"NCCL's {name}",
        ranks="pair" if time == "half_round_trip" or columns == "band" else "any",
        time=time, unit="reduction" if name in _REDUCING else "transfer", sync="none",
        rooted=False, by_default=False, columns=columns, windowed=columns == "band",
        completions=(EACH, TOGETHER),
    )  # fmt: skip
