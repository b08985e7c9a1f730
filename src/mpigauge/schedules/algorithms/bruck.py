# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Messages to a rank that is twice as far away each time (J. Bruck and others, 1997)."""

from __future__ import annotations

from mpigauge.schedules.expression import ceil_log2, choose, least, most, power_of_two
from mpigauge.schedules.phase import PIECE, RANK, RANKS, ROUND, Phase
from mpigauge.schedules.registry import add

distance = power_of_two(ROUND)
rounds = ceil_log2(RANKS)
to = (RANK + distance) % RANKS
was_sent = (PIECE & (distance - 1)).differs(0)
is_sent_later = (PIECE >> (ROUND + 1)).differs(0)
on_its_way = 2 * RANKS + PIECE
blocks = (RANKS >> (ROUND + 1)) * distance + most(RANKS % (2 * distance) - distance, 0)

add("Allgather", "bruck", "Bruck's algorithm, with twice as much each time", "⌈log₂ P⌉", (
    Phase(
        to=(RANK + RANKS - distance) % RANKS,
        rounds=rounds,
        chunks=RANKS,
        first=RANK,
        count=least(distance, RANKS - distance),
    ),
))  # fmt: skip
add("Alltoall", "bruck", "Bruck's algorithm, with half of all blocks each time", "⌈log₂ P⌉", (
    Phase(
        to=to,
        rounds=rounds,
        chunks=3 * RANKS,
        pieces=RANKS,
        piece_when=(PIECE >> ROUND) % 2,
        first=choose(was_sent, on_its_way, (RANK + PIECE) % RANKS),
        into=choose(is_sent_later, on_its_way, RANKS + (to + RANKS - PIECE) % RANKS),
        weight=blocks,
    ),
))  # fmt: skip
add("Barrier", "dissemination", "a signal to a rank twice as far away each time", "⌈log₂ P⌉", (
    Phase(to=to, rounds=rounds),
))  # fmt: skip
