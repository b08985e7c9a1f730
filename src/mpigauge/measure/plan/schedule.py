# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""How many rounds pairs of ranks take, as the kernels put them side by side (core/pairs.cpp)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    pairs: int
    rounds: int
    """One after the other; the pairs of a round have no rank in common, and measure together."""

    @property
    def together(self) -> int:
        """Pairs of the fullest round, where they are shared out evenly."""
        return -(-self.pairs // self.rounds)


def schedule(pairs: str, ranks: int) -> Schedule:
    """A schedule of pairs: all, each, ring, or pairs by name such as 0-1,2-3;0-2, on so many
    ranks."""
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
