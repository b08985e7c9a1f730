# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hosts and pairs of hosts whose short messages stall.

A transport sends a lost packet again after a timeout of many round trips. Of a long message, other
packets report the loss sooner, and its bandwidth falls little. So a burst of short messages, one
after the other, shows a damaged cable or port that long messages hide.

A host or pair stalls in a round if the median of its bursts takes LEAST_STALL times as long as the
median of others. So a pause of a host counts once, however many bursts it delays. Without a fault
all hosts stall equally often, and so do all pairs: the rounds in which one stalls are as many as
marked ones among its own number, drawn at random. The p-value is multiplied by the number of
suspects. The one with the least is named, its bursts are left out, and the others are judged again:
neither the two hosts of a pair are named nor the pairs of a host.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.model.row import NOTHING
from mpigauge.result.fabric.accusation import Accusation, Flows
from mpigauge.result.fabric.case import numbers_of
from mpigauge.result.fabric.matchings import estimate
from mpigauge.result.fabric.rank_sum import at_least_drawn, from_others, median_by_block

if TYPE_CHECKING:
    from mpigauge.result.fabric.rank_sum import Floats, Ints, Mask

LEAST_STALL = 2.0
"""Less than twice as long as others is no stall: routes differ in length, and hosts in noise."""
LEAST_STALLS = 3


class _Suspect(NamedTuple):
    hosts: tuple[int, ...]
    rounds: int
    stalled: int
    """The number of rounds in which it stalls."""


def stalls(
    bursts: Flows, hosts: Sequence[str], named: Iterable[Accusation], miss: float
) -> Iterator[Accusation]:
    """The hosts and pairs that stall, without those that are `named` already, the worst first."""
    flows = bursts.measured
    for each in named:
        if each.kind in ("host", "pair"):
            flows = flows.only(~_are_of(flows, [hosts.index(host) for host in each.hosts]))
    while verdict := min(_verdicts(flows), default=None):
        p, suspect = verdict
        if p > miss:
            return
        yield _accusation(flows, hosts, suspect, 1 - p)
        flows = flows.only(~_are_of(flows, suspect.hosts))


def _are_of(flows: Flows, hosts: Sequence[int]) -> Mask:
    """True for each flow that all of one or two hosts have a part in."""
    parts = [(flows.first == host) | (flows.second == host) for host in hosts]
    are_of: Mask = np.logical_and.reduce(parts)
    return are_of


def _verdicts(flows: Flows) -> Iterator[tuple[float, _Suspect]]:
    """The hosts and pairs that stall in several rounds, with their p-values, which are corrected
    for the number of all hosts and pairs."""
    slower = np.log(_ratios(flows))
    pairs = np.sort(np.column_stack((flows.first, flows.second)), axis=1)
    of_pairs = _suspects(pairs, flows.round, slower)
    of_hosts = _suspects(pairs.reshape(-1, 1), np.repeat(flows.round, 2), np.repeat(slower, 2))
    for alike in (of_pairs, of_hosts):
        rounds, stalled = sum(each.rounds for each in alike), sum(each.stalled for each in alike)
        for each in alike:
            if each.stalled >= LEAST_STALLS:
                p = at_least_drawn(each.stalled, each.rounds, stalled, rounds)
                yield p * (len(of_pairs) + len(of_hosts)), each


def _suspects(rows: Ints, rounds: Ints, slower: Floats) -> list[_Suspect]:
    """The hosts of each row that is different, with their rounds."""
    names, at = np.unique(rows, axis=0, return_inverse=True)
    times = int(rounds.max(initial=0)) + 1
    together, place = np.unique(at.reshape(-1) * times + rounds, return_inverse=True)
    medians = median_by_block(slower, place.astype(np.intp), len(together))
    own = np.bincount(together // times, minlength=len(names))
    stalled = np.bincount(
        (together // times)[medians >= math.log(LEAST_STALL)], minlength=len(names)
    )
    columns = names.tolist(), own.tolist(), stalled.tolist()
    return [_Suspect(tuple(hosts), *counts) for hosts, *counts in zip(*columns, strict=True)]


def _ratios(flows: Flows) -> Floats:
    """The time of each burst relative to the median of others of its round; 1 without others."""
    deviations = from_others(np.log(flows.bandwidth), numbers_of(flows.round))
    return np.exp(-np.nan_to_num(deviations))


def _accusation(
    flows: Flows, hosts: Sequence[str], suspect: _Suspect, confidence: float
) -> Accusation:
    ratio = estimate(_ratios(flows)[_are_of(flows, suspect.hosts)].tolist())
    names = tuple(hosts[host] for host in suspect.hosts)
    return Accusation("stall", names, (), ratio or NOTHING, confidence, suspect.rounds)
