# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A ring whose parts are reduced in segments that stay in a cache."""

from __future__ import annotations

from mpigauge.schedules.phase import RANK, RANKS, ROUND, SEGMENTS
from mpigauge.schedules.phases import ring_gather, ring_reduce
from mpigauge.schedules.registry import add

segment = ROUND // (RANKS - 1)
hop = ROUND % (RANKS - 1)

add(
    "Allreduce",
    "segmented_ring",
    "a ring for one segment of all parts after the other, then a ring with the parts",
    "(P - 1) (S + 1) with S segments of a part",
    (
        ring_reduce().change(
            rounds=(RANKS - 1) * SEGMENTS,
            chunks=RANKS * SEGMENTS,
            first=((RANK + RANKS - 1 - hop) % RANKS) * SEGMENTS + segment,
        ),
        ring_gather(),
    ),
)
