# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Hosts and pairs of hosts whose short messages stall.

A transport sends a lost packet again after a timeout of many round trips. Of a long message, other
packets report the loss sooner, and its bandwidth falls little. So a burst of short messages, one
after the other, shows a damaged cable or port that long messages hide.

A burst stalls if it takes LEAST_STALL times as long as the median of others of its round. Without a
fault any bursts stall equally often, so the number of stalled ones of a host or a pair is that of
marked ones among as many drawn at random. The p-value is multiplied by the number of suspects. The
one with the least is named, its bursts are left out, and the others are judged again: neither the
two hosts of a pair are named nor the pairs of a host.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.model.row import NOTHING
from mpigauge.result.fabric.accusation import Accusation, Flows
from mpigauge.result.fabric.case import numbers_of
from mpigauge.result.fabric.matchings import estimate
from mpigauge.result.fabric.rank_sum import at_least_drawn, from_others

if TYPE_CHECKING:
    from mpigauge.result.fabric.rank_sum import Floats, Ints, Mask

LEAST_STALL = 2.0
"""Less than twice as long as others is no stall: routes differ in length, and hosts in noise."""
LEAST_STALLS = 3


class _Suspect(NamedTuple):
    hosts: tuple[int, ...]
    p: float


def stalls(
    bursts: Flows, hosts: Sequence[str], named: Iterable[Accusation], miss: float
) -> Iterator[Accusation]:
    """The hosts and pairs that stall, without those that are `named` already, the worst first."""
    flows = bursts.measured
    for each in named:
        if each.kind in ("host", "pair"):
            flows = flows.only(~_are_of(flows, [hosts.index(host) for host in each.hosts]))
    while worst := min(_suspects(flows), key=lambda suspect: suspect.p, default=None):
        if worst.p > miss:
            return
        yield _accusation(flows, hosts, worst)
        flows = flows.only(~_are_of(flows, worst.hosts))


def _are_of(flows: Flows, hosts: Sequence[int]) -> Mask:
    """True for each flow that all of one or two hosts have a part in."""
    parts = [(flows.first == host) | (flows.second == host) for host in hosts]
    are_of: Mask = np.logical_and.reduce(parts)
    return are_of


def _suspects(flows: Flows) -> Iterator[_Suspect]:
    """The hosts and pairs with several stalls. Their p-values are corrected for the number of all
    hosts and pairs."""
    is_stalled = _ratios(flows) >= LEAST_STALL
    pairs = np.sort(np.column_stack((flows.first, flows.second)), axis=1)
    of_pairs = _counts(pairs, is_stalled)
    of_hosts = _counts(pairs.reshape(-1, 1), np.repeat(is_stalled, 2))
    suspects = len(of_pairs) + len(of_hosts)
    for hosts, bursts, hits in (*of_pairs, *of_hosts):
        if hits >= LEAST_STALLS:
            p = at_least_drawn(hits, bursts, int(is_stalled.sum()), len(is_stalled))
            yield _Suspect(hosts, p * suspects)


def _counts(rows: Ints, is_stalled: Mask) -> list[tuple[tuple[int, ...], int, int]]:
    """Each row that is different, with the number of its bursts and of those that stall."""
    names, at, bursts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    hits = np.bincount(at.reshape(-1), is_stalled, minlength=len(names)).astype(int)
    return list(zip(map(tuple, names.tolist()), bursts.tolist(), hits.tolist(), strict=True))


def _ratios(flows: Flows) -> Floats:
    """The time of each burst relative to the median of others of its round; 1 without others."""
    deviations = from_others(np.log(flows.bandwidth), numbers_of(flows.round))
    return np.exp(-np.nan_to_num(deviations))


def _accusation(flows: Flows, hosts: Sequence[str], worst: _Suspect) -> Accusation:
    own = _are_of(flows, worst.hosts)
    ratio = estimate(_ratios(flows)[own].tolist())
    rounds = len(np.unique(flows.round[own]))
    names = tuple(hosts[host] for host in worst.hosts)
    return Accusation("stall", names, (), ratio or NOTHING, 1 - worst.p, rounds)
