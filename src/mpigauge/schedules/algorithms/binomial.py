# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Binomial trees: twice as many ranks take part each time."""

from __future__ import annotations

from mpigauge.schedules.phase import RANKS
from mpigauge.schedules.phases import BINOMIAL
from mpigauge.schedules.registry import add

down, up = BINOMIAL.down(), BINOMIAL.up()
all_but_own = down.change(chunks=RANKS, first=(down.to + 1) % RANKS, count=RANKS - 1)

add("Bcast", "binomial", "a binomial tree", "⌈log₂ P⌉", (down,))
add("Reduce", "binomial", "a binomial tree", "⌈log₂ P⌉", (up,))
add("Allreduce", "binomial", "a binomial tree to rank 0, and back", "2 ⌈log₂ P⌉", (up, down))
add("Gather", "binomial", "a binomial tree, with more at each level", "⌈log₂ P⌉", (
    BINOMIAL.gather(),
))  # fmt: skip
add("Scatter", "binomial", "a binomial tree, with less at each level", "⌈log₂ P⌉", (
    BINOMIAL.scatter(),
))  # fmt: skip
add("Allgather", "binomial", "a binomial tree to rank 0, and back with all", "2 ⌈log₂ P⌉", (
    BINOMIAL.gather(), all_but_own,
))  # fmt: skip
add("Reduce_scatter", "binomial", "a binomial tree to rank 0, which scatters", "2 ⌈log₂ P⌉", (
    up, BINOMIAL.scatter(),
))  # fmt: skip
add("Barrier", "binomial", "a binomial tree to rank 0, and back", "2 ⌈log₂ P⌉", (
    BINOMIAL.up(reduces=False), down,
))  # fmt: skip
