# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Messages between one rank and all others, or between all, all at once."""

from __future__ import annotations

from mpigauge.schedules.phase import LANE, RANK, RANKS
from mpigauge.schedules.phases import linear_down, linear_up, shifts
from mpigauge.schedules.registry import add

down, up = linear_down(), linear_up()

add("Bcast", "linear", "the root sends to all ranks at once", "1", (down,))
add("Reduce", "linear", "all ranks send to the root at once", "1", (up,))
add("Allreduce", "linear", "all ranks send to rank 0, which sends to all", "2", (up, down))
add("Gather", "linear", "all ranks send to the root at once", "1", (
    linear_up(reduces=False).change(chunks=RANKS, first=RANK),
))  # fmt: skip
add("Scatter", "linear", "the root sends to all ranks at once", "1", (
    down.change(chunks=RANKS, first=LANE + 1),
))  # fmt: skip
add("Allgather", "linear", "all ranks send to all at once", "1", (shifts(overlaps=True),))
add("Alltoall", "linear", "all ranks send to all at once", "1", (
    shifts(
        overlaps=True,
        chunks=3 * RANKS,
        first=shifts().to,
        into=RANKS + RANK,
    ),
))  # fmt: skip
add("Barrier", "linear", "all ranks send to rank 0, which sends to all", "2", (
    linear_up(reduces=False), down,
))  # fmt: skip
