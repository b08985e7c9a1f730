# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""All ranks of a node are leaders, each of a part of the vector."""

from __future__ import annotations

from mpigauge.schedules.expression import both
from mpigauge.schedules.phase import (
    LOCAL,
    NODE,
    NODE_RANKS,
    NODE_SIZE,
    ROUND,
    SMALLEST_NODE,
    Phase,
    among_nodes,
)
from mpigauge.schedules.phases import double, fold, halve, unfold
from mpigauge.schedules.registry import add

lanes = SMALLEST_NODE
other = (LOCAL + ROUND + 1) % NODE_SIZE
on_node = Phase(
    to=NODE * NODE_RANKS + other,
    rounds=NODE_RANKS - 1,
    chunks=lanes,
    when=ROUND + 1 < NODE_SIZE,
)


def among(phase: Phase) -> Phase:
    """The phase among the ranks of all nodes that are leaders of the same part."""
    return among_nodes(phase, lanes, splits=True)


add(
    "Allreduce",
    "multi_leader",
    "parts are reduced on each node, and by Rabenseifner's algorithm among nodes",
    "2 (L - 1) + 2 log₂ N on N nodes of L ranks, and 2 more if N is no power of two",
    (
        on_node.change(when=both(on_node.when, other < lanes), first=other, reduces=True),
        among(fold(reduces=True)),
        among(halve()),
        among(double()),
        among(unfold()),
        on_node.change(when=both(on_node.when, lanes > LOCAL), first=LOCAL),
    ),
    on_nodes=True,
)
