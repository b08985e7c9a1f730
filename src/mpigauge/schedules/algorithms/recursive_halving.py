# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Exchanges of halves with a rank that is half as far away each time.

Of a number of ranks that is no power of two, ranks beyond it have a neighbour that acts for them.
"""

from __future__ import annotations

from mpigauge.schedules.expression import power_of_two
from mpigauge.schedules.phase import LOG_POWER, PLACE, RANK, RANKS, ROUND, rank_at
from mpigauge.schedules.phases import exchange, fold, unfold
from mpigauge.schedules.registry import add

bit = LOG_POWER - 1 - ROUND
distance = power_of_two(bit)
start = ((PLACE ^ distance) >> bit) * distance

add(
    "Reduce_scatter",
    "recursive_halving",
    "recursive halving",
    "log₂ P, and 2 more if P is no power of two",
    (
        fold(reduces=True),
        exchange(
            distance,
            chunks=RANKS,
            first=rank_at(start),
            count=rank_at(start + distance) - rank_at(start),
            reduces=True,
        ),
        unfold(chunks=RANKS, first=RANK + 1),
    ),
)
