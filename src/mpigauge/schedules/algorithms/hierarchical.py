# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A leader on each node, which alone has messages from and to other nodes."""

from __future__ import annotations

from mpigauge.schedules.expression import least, power_of_two
from mpigauge.schedules.phase import NODE_RANKS, RANKS, ROUND, among_nodes, within_nodes
from mpigauge.schedules.phases import BINOMIAL, exchange, fold, ring_gather, unfold
from mpigauge.schedules.registry import add

STEPS = "2 ⌈log₂ L⌉ + log₂ N on N nodes of L ranks, and 2 more if N is no power of two"
down = within_nodes(BINOMIAL.down())
distance = power_of_two(ROUND)
ring = among_nodes(ring_gather())
block = ring.first * NODE_RANKS

add("Allreduce", "hierarchical", "leaders of nodes use recursive doubling", STEPS, (
    within_nodes(BINOMIAL.up()),
    among_nodes(fold(reduces=True)),
    among_nodes(exchange(distance, reduces=True)),
    among_nodes(unfold()),
    down,
), on_nodes=True)  # fmt: skip
add("Barrier", "hierarchical", "leaders of nodes use recursive doubling", STEPS, (
    within_nodes(BINOMIAL.up(reduces=False)),
    among_nodes(fold()),
    among_nodes(exchange(distance)),
    among_nodes(unfold()),
    down,
), on_nodes=True)  # fmt: skip
add("Bcast", "hierarchical", "a binomial tree of leaders, then one on each node",
    "⌈log₂ N⌉ + ⌈log₂ L⌉ on N nodes of L ranks", (
    among_nodes(BINOMIAL.down()), down,
), on_nodes=True)  # fmt: skip
add("Reduce", "hierarchical", "a binomial tree on each node, then one of leaders",
    "⌈log₂ N⌉ + ⌈log₂ L⌉ on N nodes of L ranks", (
    within_nodes(BINOMIAL.up()), among_nodes(BINOMIAL.up()),
), on_nodes=True)  # fmt: skip
add("Allgather", "hierarchical", "leaders collect the blocks of their node, and use a ring",
    "2 ⌈log₂ L⌉ + N - 1 on N nodes of L ranks", (
    within_nodes(BINOMIAL.gather(), has_own_blocks=True),
    ring.change(
        chunks=RANKS,
        first=block,
        count=least(NODE_RANKS, RANKS - block),
        weight=NODE_RANKS,
    ),
    down.change(chunks=RANKS, first=(down.to + 1) % RANKS, count=RANKS - 1),
), on_nodes=True)  # fmt: skip
