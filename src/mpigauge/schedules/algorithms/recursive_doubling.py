# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Exchanges with a rank that is twice as far away each time.

Of a number of ranks that is no power of two, ranks beyond it have a neighbour that acts for them.
"""

from __future__ import annotations

from mpigauge.schedules.expression import power_of_two
from mpigauge.schedules.phase import PLACE, RANK, RANKS, ROUND, rank_at
from mpigauge.schedules.phases import exchange, fold, unfold
from mpigauge.schedules.registry import add

distance = power_of_two(ROUND)
STEPS = "log₂ P, and 2 more if P is no power of two"
start = (PLACE >> ROUND) * distance

add("Allreduce", "recursive_doubling", "recursive doubling", STEPS, (
    fold(reduces=True), exchange(distance, reduces=True), unfold(),
))  # fmt: skip
add("Allgather", "recursive_doubling", "recursive doubling, with twice as much each time", STEPS, (
    fold(chunks=RANKS, first=RANK),
    exchange(
        distance,
        chunks=RANKS,
        first=rank_at(start),
        count=rank_at(start + distance) - rank_at(start),
    ),
    unfold(chunks=RANKS, first=(RANK + 2) % RANKS, count=RANKS - 1),
))  # fmt: skip
add("Barrier", "recursive_doubling", "recursive doubling", STEPS, (
    fold(), exchange(distance), unfold(),
))  # fmt: skip
