# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes the efficiencies of a profile as the JSON of TALP, for programs that read it.

Threads of a rank are not counted, so there are as many CPUs as ranks, and OpenMP's efficiencies are
0, as TALP prints them for programs without OpenMP. Nor are there hardware counters.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from mpigauge.products.profile.analyse.efficiencies import Efficiencies, over_launches

if TYPE_CHECKING:
    from mpigauge.products.profile.analyse.account import Account

FORMAT = "3.6"
"""The version of DLB whose file this is like."""
WHOLE = "Global"


def talp(account: Account) -> str:
    """Returns the text for one launch."""
    nodes = len({file.host for file in account.ranks})
    ranks = len(account.ranks)
    regions = {}
    for each in over_launches([account]):
        name = each.first.region or WHOLE
        regions[name] = _region(account, each.first, nodes)
    data = {
        "dlbVersion": FORMAT,
        "timestamp": account.ranks[0].started,
        "resources": {"numCpus": ranks, "numNodes": nodes, "numMpiRanks": ranks},
        "Application": regions,
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _region(account: Account, of: Efficiencies, nodes: int) -> dict[str, Any]:
    ranks = len(account.ranks)
    inside, between = _balance_by_node(account, of)
    return {
        "numCpus": ranks,
        "numMpiRanks": ranks,
        "numNodes": nodes,
        "avgCpus": float(ranks),
        "cycles": 0,
        "instructions": 0,
        "numMeasurements": of.entered * ranks,
        "numMpiCalls": of.calls,
        "numOmpParallels": 0,
        "numOmpTasks": 0,
        "elapsedTime": _nanoseconds(of.run_s),
        "usefulTime": _nanoseconds(of.computing_s),
        "mpiTime": _nanoseconds(of.mpi_s),
        "ompLoadImbalanceTime": 0,
        "ompSchedulingTime": 0,
        "ompSerializationTime": 0,
        "parallelEfficiency": _ratio(of.parallel),
        "mpiParallelEfficiency": _ratio(of.parallel),
        "mpiCommunicationEfficiency": _ratio(of.communication),
        "mpiLoadBalance": _ratio(of.load_balance),
        "mpiLoadBalanceIn": _ratio(inside),
        "mpiLoadBalanceOut": _ratio(between),
        "ompParallelEfficiency": 0.0,
        "ompLoadBalance": 0.0,
        "ompSchedulingEfficiency": 0.0,
        "ompSerializationEfficiency": 0.0,
    }


def _balance_by_node(account: Account, of: Efficiencies) -> tuple[float, float]:
    """Returns the load balance in the node that computes longest, and between nodes: their product
    is the load balance."""
    by_node: dict[str, list[float]] = {}
    for file, seconds in zip(account.ranks, of.computing_by_rank, strict=True):
        by_node.setdefault(file.host, []).append(float(seconds))
    means = [float(np.mean(times)) for times in by_node.values()]
    most, longest = max(means), float(of.computing_by_rank.max())
    if not longest > 0:
        return math.nan, math.nan
    return most / longest, float(of.computing_by_rank.mean()) / most


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def _ratio(value: float) -> float:
    """Returns a ratio; 0 if it is unknown, as TALP prints it."""
    return round(value, 4) if math.isfinite(value) else 0.0
