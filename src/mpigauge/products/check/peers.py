# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Pairs of ranks, and hosts of a network, against their peers, as lines of a check."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.products.check.result import CheckLine
from mpigauge.result.fabric.blame import LEAST_OFTEN
from mpigauge.result.fabric.blame import LEAST_RATIO as SLOWER
from mpigauge.result.fabric.blame_words import confidence, numbers_of, subject
from mpigauge.result.fabric.fabric import fabric_of
from mpigauge.result.fabric.impact import SUITE
from mpigauge.result.fabric.items import HOSTS, RATIO
from mpigauge.result.fabric.stalls import LEAST_STALL
from mpigauge.result.stats.peers import LEAST_PEERS, LEAST_RATIO, PeerGroup, odd_pairs, odd_ranks

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.result.stats.peers import Odd, OddRank
    from mpigauge.runs.store import Run

WHAT = "peers"
_LIMITS = {"tail": LEAST_OFTEN, "stall": LEAST_STALL}


def against_peers(
    name: str, clusters: Sequence[PeerGroup], place: Callable[[int], str]
) -> Iterator[CheckLine]:
    """A line for each rank and pair that is slower than its peers, or one for all of them.
    `place` says where a rank sat."""
    judged = [cluster for cluster in clusters if len(cluster.pairs) >= LEAST_PEERS]
    if not judged:
        why = f"no level has {LEAST_PEERS} pairs, and fewer do not show the usual value"
        yield CheckLine("UNDECIDED", name, WHAT, why=why)
        return
    ranks = odd_ranks(judged)
    bad = {each.rank for each in ranks}
    pairs = [odd for odd in odd_pairs(judged) if not bad & {odd.pair.first, odd.pair.second}]
    for rank in ranks:
        yield _slow_rank(name, rank, place)
    for pair in pairs:
        yield _slow_pair(name, pair, place)
    if not ranks and not pairs:
        count = sum(len(cluster.pairs) for cluster in judged)
        yield CheckLine("PASS", name, WHAT, why=f"{count} pairs like their peers")


def hosts_against_peers(run: Run, rows: Sequence[Row]) -> Iterator[CheckLine]:
    """A line for each host, link or group of a network that is slower than its peers, or one for
    all hosts; none: the run holds no network."""
    fabric = fabric_of(run, rows)
    if fabric is None or not fabric.pairings:
        return
    account = fabric.account
    if account.why:
        yield CheckLine("UNDECIDED", HOSTS, WHAT, why=account.why)
        return
    for each in account.accusations:
        ratio, allowed = each.ratio, _LIMITS.get(each.kind, SLOWER)
        why = f"{numbers_of(each)} ({confidence(each)})"
        yield CheckLine("FAIL", f"{SUITE}: {subject(each)}", WHAT, RATIO, ratio, allowed, why=why)
    if not account.accusations:
        yield CheckLine("PASS", HOSTS, WHAT, why=f"{len(fabric.hosts)} hosts like their peers")


def _slow_rank(name: str, odd: OddRank, place: Callable[[int], str]) -> CheckLine:
    why = f"its pairs take {odd.ratio:.3g} × as long as their peers"
    return CheckLine("FAIL", f"{name}, {place(odd.rank)}", WHAT, why=why)


def _slow_pair(name: str, odd: Odd, place: Callable[[int], str]) -> CheckLine:
    pair = odd.pair
    return CheckLine(
        *("FAIL", f"{name}, {place(pair.first)} with {place(pair.second)}", WHAT, "s", pair.time),
        allowed=LEAST_RATIO * odd.peers.median_s,
        why=f"{odd.ratio:.3g} × as long as its {len(odd.peers.pairs) - 1} peers",
    )
