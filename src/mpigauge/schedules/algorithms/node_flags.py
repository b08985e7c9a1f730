# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks of a node share memory and set flags in it. A leader sends to other nodes."""

from __future__ import annotations

from mpigauge.schedules.expression import power_of_two
from mpigauge.schedules.phase import ROUND, Kind, among_nodes, within_nodes
from mpigauge.schedules.phases import BINOMIAL, exchange, fold, linear_down, linear_up, unfold
from mpigauge.schedules.registry import add

STEPS = "2 copies and log₂ N on N nodes, and 2 more if N is no power of two"
distance = power_of_two(ROUND)
down = within_nodes(linear_down(Kind.COPY))
up = within_nodes(linear_up(kind=Kind.COPY))

add("Allreduce", "node_flags", "shared memory on a node, recursive doubling of leaders", STEPS, (
    up,
    among_nodes(fold(reduces=True)),
    among_nodes(exchange(distance, reduces=True)),
    among_nodes(unfold()),
    down,
), on_nodes=True)  # fmt: skip
add("Barrier", "node_flags", "shared memory on a node, recursive doubling of leaders", STEPS, (
    within_nodes(linear_up(reduces=False, kind=Kind.COPY)),
    among_nodes(fold()),
    among_nodes(exchange(distance)),
    among_nodes(unfold()),
    down,
), on_nodes=True)  # fmt: skip
add("Bcast", "node_flags", "a binomial tree of leaders, shared memory on a node",
    "a copy and ⌈log₂ N⌉ on N nodes", (
    among_nodes(BINOMIAL.down()), down,
), on_nodes=True)  # fmt: skip
add("Reduce", "node_flags", "shared memory on a node, a binomial tree of leaders",
    "a copy and ⌈log₂ N⌉ on N nodes", (
    up, among_nodes(BINOMIAL.up()),
), on_nodes=True)  # fmt: skip
