# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The network of a matrix that another program printed: bandwidths of pairs beside all others, of
which none was measured alone.

mpiGraph lets every rank send to the one that is so many places further, all at once. So the pairs
of one distance are a round, and each is compared with the others of its round. HP2P does not print
its rounds; all its pairs are one.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from mpigauge.result.fabric.fabric import Fabric, hosts_of
from mpigauge.result.fabric.matchings import Pairing, PairsOfRound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mpigauge.model.row import Row
    from mpigauge.result.fabric.matchings import Pair
    from mpigauge.runs.store import Run

MPIGRAPH, HP2P = "MPIGRAPH", "HP2P"
NAMES = {MPIGRAPH: "mpiGraph", HP2P: "HP2P"}
"""The names of the programs by their suites."""


def matrices_of(run: Run, rows: Iterable[Row]) -> Fabric | None:
    """The network of imported matrices, at their largest size; None: the run has none. Each rank
    stands for a host."""
    ours = [row for row in rows if row.cell.suite in NAMES and row.cell.members and row.bandwidth]
    largest = max((row.cell.message_bytes for row in ours), default=0)
    ours = [row for row in ours if row.cell.message_bytes == largest]
    hosts = tuple(hosts_of(run, 1))
    if not ours or not hosts:
        return None
    suites = dict.fromkeys(row.cell.suite for row in ours)
    pairings = [
        Pairing(
            NAMES[suite], tuple(_rounds([row for row in ours if row.cell.suite == suite], hosts))
        )
        for suite in suites
    ]
    return Fabric(hosts=hosts, lanes=1, groups=(), pairings=tuple(pairings))


def _rounds(rows: Iterable[Row], hosts: tuple[str, ...]) -> Iterable[PairsOfRound]:
    """The mean bandwidth of each pair of a round, as both sides measured it."""
    rounds: dict[int, dict[Pair, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        lower, higher = sorted(map(int, row.cell.members.split(",")))
        if higher < len(hosts) and row.bandwidth:
            number = _round_of(row, lower, higher, len(hosts))
            rounds[number][lower, higher].append(row.bandwidth.value)
    for number, pairs in sorted(rounds.items()):
        yield PairsOfRound(0, number, _means(pairs), {})


def _round_of(row: Row, lower: int, higher: int, hosts: int) -> int:
    """The distance from the sender to the receiver, in a ring of all; 0: it is not known."""
    if row.cell.suite != MPIGRAPH:
        return 0
    distance = higher - lower
    return distance if row.cell.benchmark.endswith("_up") else hosts - distance


def _means(pairs: Mapping[Pair, list[float]]) -> dict[Pair, float]:
    return {pair: sum(of) / len(of) for pair, of in pairs.items()}
