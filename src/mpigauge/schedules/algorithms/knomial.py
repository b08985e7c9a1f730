# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Trees in which each rank has up to three others below it at each level."""

from __future__ import annotations

from mpigauge.schedules.phases import QUADRINOMIAL
from mpigauge.schedules.registry import add

down, up = QUADRINOMIAL.down(), QUADRINOMIAL.up()
gather, scatter = QUADRINOMIAL.gather(), QUADRINOMIAL.scatter()
unreduced = QUADRINOMIAL.up(reduces=False)

add("Bcast", "knomial", "a k-nomial tree, k = 4", "⌈log₄ P⌉", (down,))
add("Reduce", "knomial", "a k-nomial tree, k = 4", "⌈log₄ P⌉", (up,))
add("Allreduce", "knomial", "a k-nomial tree to rank 0, and back, k = 4", "2 ⌈log₄ P⌉", (up, down))
add("Gather", "knomial", "a k-nomial tree, with more at each level, k = 4", "⌈log₄ P⌉", (gather,))
add("Scatter", "knomial", "a k-nomial tree, with less at each level, k = 4", "⌈log₄ P⌉", (scatter,))
add("Barrier", "knomial", "a k-nomial tree to rank 0, and back, k = 4", "2 ⌈log₄ P⌉", (
    unreduced, down,
))  # fmt: skip
