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

from mpigauge.result.fabric.accusation import Accusation, Flows
from mpigauge.result.fabric.case import numbers_of
from mpigauge.result.fabric.matchings import estimate
from mpigauge.result.fabric.rank_sum import at_least_drawn, from_others

if TYPE_CHECKING:
    from mpigauge.result.fabric.rank_sum import Floats, Mask

LEAST_STALL = 2.0
"""Less than twice as long as others is no stall: routes differ in length, and hosts in noise."""
LEAST_STALLS = 3


class _Suspect(NamedTuple):
    hosts: tuple[int, ...]
    flows: Mask
    stalled: int
    p: float


def stalls(
    bursts: Flows, hosts: Sequence[str], named: Iterable[Accusation], miss: float
) -> Iterator[Accusation]:
    """The hosts and pairs that stall, without those that are `named` already, the worst first."""
    flows = bursts.measured
    for each in named:
        if each.kind in ("host", "pair"):
            flows = flows.only(~_is_of(flows, [hosts.index(host) for host in each.hosts]))
    while worst := min(_suspects(flows), key=lambda suspect: suspect.p, default=None):
        if worst.p > miss or worst.stalled < LEAST_STALLS:
            return
        yield _accusation(flows, hosts, worst)
        flows = flows.only(~worst.flows)


def _is_of(flows: Flows, hosts: Sequence[int]) -> Mask:
    """True for each flow that all of one or two hosts have a part in."""
    either = [(flows.first == host) | (flows.second == host) for host in hosts]
    all_of: Mask = np.logical_and.reduce(either)
    return all_of


def _suspects(flows: Flows) -> list[_Suspect]:
    """All hosts and pairs with a stall. Their p-values are corrected for the number of all."""
    is_stalled = _ratios(flows) >= LEAST_STALL
    lower = np.minimum(flows.first, flows.second)
    higher = np.maximum(flows.first, flows.second)
    pairs = np.unique(np.column_stack((lower, higher)), axis=0)
    suspects = len(pairs) + len(np.unique(pairs))
    stalled = np.unique(np.column_stack((lower, higher))[is_stalled], axis=0)
    judged = []
    for each in (*((host,) for host in np.unique(stalled).tolist()), *map(tuple, stalled.tolist())):
        its = _is_of(flows, each)
        hits = int((its & is_stalled).sum())
        p = at_least_drawn(hits, int(its.sum()), int(is_stalled.sum()), len(is_stalled))
        judged.append(_Suspect(each, its, hits, p * suspects))
    return judged


def _ratios(flows: Flows) -> Floats:
    """The time of each burst relative to the median of others of its round; 1 without others."""
    deviations = from_others(np.log(flows.bandwidth), numbers_of(flows.round))
    return np.exp(-np.nan_to_num(deviations))


def _accusation(flows: Flows, hosts: Sequence[str], worst: _Suspect) -> Accusation:
    ratio = estimate(_ratios(flows)[worst.flows].tolist())
    assert ratio is not None
    return Accusation(
        "stall",
        tuple(hosts[host] for host in worst.hosts),
        (),
        ratio,
        1 - worst.p,
        len(np.unique(flows.round[worst.flows])),
    )
