# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The number of rounds for pairs of ranks, as the kernels schedule them (core/pairs.cpp)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    pairs: int
    rounds: int
    """Consecutive rounds; the pairs of a round have no rank in common, and measure at the same
    time."""

    @property
    def together(self) -> int:
        """Pairs of the fullest round, if they are distributed evenly."""
        return -(-self.pairs // self.rounds)


def schedule(pairs: str, ranks: int) -> Schedule:
    """The schedule of pairs on this number of ranks: all, each, ring, or by name such as
    0-1,2-3;0-2."""
    every = ranks * (ranks - 1) // 2
    odd = ranks % 2
    if pairs == "all":
        return Schedule(every, ranks - 1 + odd)
    if pairs == "each":
        return Schedule(every, every)
    if pairs == "ring":
        if ranks > 2:
            return Schedule(ranks, 2 + odd)
        return Schedule(1, 1)
    rounds = pairs.split(";")
    return Schedule(sum(len(each.split(",")) for each in rounds), len(rounds))
