# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""All benchmarks of a suite on an MPI: each cell is there, its data are right, or it says why not.

A few calls of each must do: where there are fewer cores than ranks some libraries spin, and a call
takes time slices. Times are never judged.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from mpigauge.model.cards import NCCL_SUITE
from mpigauge.site.mpi.blas import usual_blas
from tests.cases.launching import ROUGH, Ended, Site, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from mpigauge.model.cards import Card

CORES = len(os.sched_getaffinity(0))
FEW_CALLS = 1 << 20
"""A size that IMB repeats 40 times, not 1000."""
SUITES = (
    "MPI1",
    "EXT",
    "IO",
    "NBC",
    "RMA",
    "MPI4",
    "MT",
    "P2P",
    "HALO",
    "MORE",
    "NODE",
    "REPLAY",
    "ALG",
    "FABRIC",
)
COLLECTIVES = (
    *("barrier", "bcast", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block"),
    *("scan", "exscan", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv"),
    *("alltoall", "alltoallv"),
)
"""That can be replayed."""
NO_INSTRUCTIONS = "this processor has no "
MISSING = "this MPI library has no "
OF_RANKS = {
    "one": ("needs 1 rank",),
    "pair": ("needs 2 ranks",),
    "pairs": ("needs an even number of ranks",),
    "several": ("needs at least 2 ranks",),
    "plane": ("needs a number of ranks that makes a plane with 2 or more on a side",),
    "volume": ("needs a number of ranks that makes a volume with 2 or more on a side",),
}


def run_all(where: Site, ranks: int, names: str, *options: object) -> Ended:
    """These benchmarks in one launch, in as much time as it takes to reach each cell."""
    return run(where, ranks, "--benchmarks", names, "--inflight", 16, *ROUGH, *options)


def one_of_each_suite(cards: Iterable[Card]) -> list[Card]:
    """The first of those that a suite measures by default, without a profile to be replayed, and
    without a GPU."""
    first: dict[str, Card] = {}
    for card in cards:
        if card.by_default and "profile" not in card.options and card.suite != NCCL_SUITE:
            first.setdefault(card.suite, card)
    return list(first.values())


def may_be_skipped(card: Card, ranks: int, reason: str) -> bool:
    """Whether this reason can keep a benchmark from so many ranks of a library."""
    if reason in OF_RANKS.get(card.ranks, ()):
        fit = ranks % 2 == 0 if card.ranks == "pairs" else card.fits(ranks)
        return not fit
    if reason.startswith(MISSING):
        return reason.removeprefix(MISSING) in card.needs
    if reason.startswith(NO_INSTRUCTIONS):
        return card.suite == "NODE" and card.name.startswith("Peak_")
    if match := re.fullmatch(r"needs (\d+) hosts", reason):
        return card.suite == "FABRIC" and ranks < int(match[1])
    if reason.startswith("Intel MPI 2021.18 aborts"):
        return card.name.startswith("Scatter_persist") and ranks > 2
    return False


def sizes_on(ranks: int) -> tuple[int, ...]:
    return (0, 8, 4096) if ranks <= CORES else (4096,)


def sizes_of(card: Card, sizes: tuple[int, ...]) -> tuple[int, ...]:
    if card.unit == "none":
        return (-1,)
    return (card.only_bytes,) if card.only_bytes else sizes


def mix_of_all(ranks: int) -> str:
    """A program of so many ranks that makes every call which can be replayed: two of each, the
    first with lateness; collectives of all ranks and of two halves, with the last as root."""
    all_of = "+".join(map(str, range(ranks)))
    halves = "_".join("+".join(map(str, range(ranks)[half::2])) for half in range(min(2, ranks)))
    steps = [f"{call}:1000:0:{ranks - 1}:2" for call in COLLECTIVES]
    steps += [f"{call}:8:1:0:2" for call in COLLECTIVES]
    ring = "+".join(f"{rank}-{(rank + 1) % ranks}" for rank in range(ranks))
    if ranks > 1:
        steps += [f"{way}:1000:0:0:2:1:{ring}" for way in ("sendrecv", "send", "posted")]
        steps += [f"nonblocking:100:0:0:2:3:{ring}+0-{ranks - 1}"]
    us = "+".join(["1"] * ranks)
    return f"x={ranks};{all_of}/{halves};{us};{'/'.join(steps)};0:{us}"


def check_benchmarks(where: Site, ranks: int, cards: Sequence[Card], folder: Path) -> None:
    """Each of these, in one launch."""
    sizes, suites = sizes_on(ranks), {card.suite for card in cards}
    names = ",".join(card.word for card in cards)
    options = ["--dir", folder] if "IO" in suites else []
    options += ["--blas", usual.word] if "NODE" in suites and (usual := usual_blas()) else []
    options += ["--profile", mix_of_all(ranks)] if "REPLAY" in suites else []
    options += (
        ["--mode", "classic", "--repetitions", 2] if suites != {"MPI1"} or ranks > CORES else []
    )
    on = ranks if not all(card.ranks == "one" for card in cards) else 1
    ended = run_all(where, ranks, names, "--ranks", on, "--sizes", ",".join(map(str, sizes)),
                    *options)  # fmt: skip
    assert (ended.status, ended.end.wrong_count) == (0, 0), ended.errors
    measured = {(c.benchmark, c.message_bytes, c.completion): c for c in ended.cells}
    skipped = {
        (s.key["benchmark"], s.key["message_bytes"], s.key["completion"]): s.reason
        for s in ended.skips
    }
    wanted = {
        (card.name, size, completion): card
        for card in cards
        for size in sizes_of(card, sizes)
        for completion in card.completions
    }
    assert set(measured) | set(skipped) == set(wanted)
    unexpected = {cell: reason for cell, reason in skipped.items()
                  if not may_be_skipped(wanted[cell], ranks, reason)}  # fmt: skip
    assert not unexpected
    for cell in measured.values():
        assert cell.samples > 0
        assert cell.wrong_count == 0
        assert 0 <= cell.time_min_s <= cell.time_max_s
    assert list(folder.iterdir()) == []
