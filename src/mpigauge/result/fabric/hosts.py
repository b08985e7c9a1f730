# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Each host beside its peers: the bandwidth of its messages relative to others of the same round.

A message is as slow as the slower of its two hosts. So messages whose partner is slow are left out,
unless the host itself is as slow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mpigauge.result.fabric.case import LEAST_RATIO, numbers_of
from mpigauge.result.fabric.matchings import estimate
from mpigauge.result.fabric.rank_sum import from_others

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.row import Estimate
    from mpigauge.result.fabric.accusation import Flows


class HostShare(NamedTuple):
    host: str
    share: Estimate
    """Its bandwidth relative to the median of others of the round; the median over rounds."""
    by_round: tuple[float, ...]


def host_shares(flows: Flows, hosts: Sequence[str]) -> Iterator[HostShare]:
    """The bandwidth of each host relative to its peers, in the order of hosts. Hosts that never had
    others beside them are left out."""
    flows = flows.measured
    deviations = from_others(np.log(flows.bandwidth), numbers_of(flows.round))
    flows, deviations = flows.only(np.isfinite(deviations)), deviations[np.isfinite(deviations)]
    usual = np.zeros(len(hosts))
    for place in range(len(hosts)):
        own = (flows.first == place) | (flows.second == place)
        if own.any():
            usual[place] = np.median(deviations[own])
    for place, host in enumerate(hosts):
        own = (flows.first == place) | (flows.second == place)
        partner = np.where(flows.first == place, flows.second, flows.first)
        own &= usual[partner] >= min(usual[place], -math.log(LEAST_RATIO))
        by_round = tuple(np.exp(deviations[own]).tolist())
        share = estimate(by_round)
        if share is not None:
            yield HostShare(host, share, by_round)
