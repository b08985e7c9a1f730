# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ranks send to one and receive from another, at a distance that grows by one each time."""

from __future__ import annotations

from mpigauge.schedules.phase import RANK, RANKS
from mpigauge.schedules.phases import shifts
from mpigauge.schedules.registry import add

to = shifts().to

add("Alltoall", "pairwise", "pairs at one distance after the other", "P - 1", (
    shifts(chunks=3 * RANKS, first=to, into=RANKS + RANK),
))  # fmt: skip
add("Reduce_scatter", "pairwise", "pairs at one distance after the other", "P - 1", (
    shifts(first=to, reduces=True),
))  # fmt: skip
