# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Phases that several algorithms consist of."""

from __future__ import annotations

from mpigauge.schedules.expression import (
    Expression,
    Term,
    both,
    ceil_div,
    ceil_log2,
    choose,
    least,
    power_of_two,
    reversed_bits,
    term,
)
from mpigauge.schedules.phase import (
    ACTS,
    BEYOND,
    IS_FOLDED,
    LANE,
    LOG_POWER,
    PLACE,
    POWER,
    RANK,
    RANKS,
    ROUND,
    Alike,
    Kind,
    Phase,
    rank_at,
)

ONE = term(1)


# --- trees ----------------------------------------------------------------------------------
class Tree:
    """A k-nomial tree with its root at rank 0, for k = 2 to the power of `log_radix`.

    A rank that is a multiple of k times a step is the parent of those that are 1 to k - 1 steps
    above it, and each of these has the ranks up to the next step below it.
    """

    def __init__(self, log_radix: int) -> None:
        self.lanes = 2**log_radix - 1
        self.rounds = ceil_div(ceil_log2(RANKS), log_radix)
        self._log_radix = log_radix

    def down(self, kind: Kind = Kind.MESSAGE) -> Phase:
        """A message from the root to all, which hand it on, the farthest first."""
        step = self._step(self.rounds - 1 - ROUND)
        to = RANK + (LANE + 1) * step
        is_parent = (RANK % (step * (self.lanes + 1))).equals(0)
        return Phase(
            to=to,
            rounds=self.rounds,
            lanes=term(self.lanes),
            when=both(is_parent, to < RANKS),
            kind=kind,
        )

    def up(self, reduces: bool = True, kind: Kind = Kind.MESSAGE) -> Phase:
        """A message from all to the root, the nearest first."""
        step = self._step(ROUND)
        above = (RANK // step) % (self.lanes + 1)
        return Phase(
            to=RANK - above * step,
            rounds=self.rounds,
            when=both((RANK % step).equals(0), above.differs(0)),
            reduces=reduces,
            kind=kind,
        )

    def scatter(self) -> Phase:
        """The blocks of all ranks from the root; each rank gets those of all below it."""
        down = self.down()
        step = self._step(self.rounds - 1 - ROUND)
        return down.change(chunks=RANKS, first=down.to, count=least(step, RANKS - down.to))

    def gather(self) -> Phase:
        """The blocks of all ranks to the root; each rank sends those of all below it."""
        step = self._step(ROUND)
        return self.up(reduces=False).change(
            chunks=RANKS, first=RANK, count=least(step, RANKS - RANK)
        )

    def _step(self, level: Expression) -> Expression:
        return power_of_two(level * self._log_radix)


BINOMIAL = Tree(1)
QUADRINOMIAL = Tree(2)


# --- all to one, one to all -----------------------------------------------------------------
def linear_up(reduces: bool = True, kind: Kind = Kind.MESSAGE) -> Phase:
    """All ranks send to rank 0 at once."""
    return Phase(to=term(0), rounds=ONE, when=RANK.differs(0), reduces=reduces, kind=kind)


def linear_down(kind: Kind = Kind.MESSAGE) -> Phase:
    """Rank 0 sends to all ranks at once."""
    return Phase(to=LANE + 1, rounds=ONE, senders=ONE, lanes=RANKS - 1, kind=kind)


# --- pairs of ranks beyond a power of two ---------------------------------------------------
def fold(**fields: object) -> Phase:
    """Ranks whose neighbour acts for them send to it."""
    phase = Phase(to=RANK - 1, rounds=least(BEYOND, 1), senders=2 * BEYOND, when=IS_FOLDED)
    return phase.change(**fields)


def unfold(**fields: object) -> Phase:
    """Ranks that acted for their neighbour send to it."""
    phase = Phase(
        to=RANK + 1,
        rounds=least(BEYOND, 1),
        senders=2 * BEYOND,
        when=IS_FOLDED.equals(0),
    )
    return phase.change(**fields)


def exchange(distance: Expression, **fields: object) -> Phase:
    """Ranks that act exchange messages with those at a distance that is a power of two."""
    phase = Phase(to=rank_at(PLACE ^ distance), rounds=LOG_POWER, when=ACTS)
    return phase.change(**fields)


# --- recursive halving of a vector, the nearest first ---------------------------------------
def window(place: Term, level: Term) -> Expression:
    """The first chunk that a place is in charge of after so many halvings."""
    return reversed_bits(term(place) & (power_of_two(level) - 1), LOG_POWER)


def window_size(level: Term) -> Expression:
    """The chunks that a place is in charge of after so many halvings."""
    return POWER >> level


def halve() -> Phase:
    """Ranks exchange halves of what they are in charge of, and reduce them."""
    other = PLACE ^ power_of_two(ROUND)
    return exchange(
        power_of_two(ROUND),
        chunks=POWER,
        first=window(other, ROUND + 1),
        count=window_size(ROUND + 1),
        reduces=True,
    )


def double() -> Phase:
    """Ranks exchange what they are in charge of, back to the whole vector."""
    bit = LOG_POWER - 1 - ROUND
    return exchange(
        power_of_two(bit),
        chunks=POWER,
        first=window(PLACE, bit + 1),
        count=window_size(bit + 1),
    )


def collect() -> Phase:
    """The chunks of all places are collected at the first place."""
    bit = LOG_POWER - 1 - ROUND
    step = power_of_two(bit)
    sends = both(ACTS, step <= PLACE, 2 * step > PLACE)
    return Phase(
        to=rank_at(PLACE - step),
        rounds=LOG_POWER,
        chunks=POWER,
        when=sends,
        first=window(PLACE, bit + 1),
        count=window_size(bit + 1),
    )


# --- rings ----------------------------------------------------------------------------------
def ring_reduce() -> Phase:
    """Sums of chunks go round a ring; in the last round that of chunk r comes to rank r."""
    return Phase(
        to=(RANK + 1) % RANKS,
        rounds=RANKS - 1,
        chunks=RANKS,
        first=(RANK + RANKS - 1 - ROUND) % RANKS,
        reduces=True,
        alike=Alike.PATTERN,
    )


def ring_gather() -> Phase:
    """Chunks go round a ring, beginning with chunk r at rank r."""
    return Phase(
        to=(RANK + 1) % RANKS,
        rounds=RANKS - 1,
        chunks=RANKS,
        first=(RANK + RANKS - ROUND) % RANKS,
        alike=Alike.PATTERN,
    )


# --- all to all -----------------------------------------------------------------------------
def shifts(**fields: object) -> Phase:
    """All ranks send to the rank at one distance, which grows from 1 with each round."""
    phase = Phase(
        to=(RANK + ROUND + 1) % RANKS,
        rounds=RANKS - 1,
        chunks=RANKS,
        first=RANK,
        alike=Alike.SHIFT,
    )
    return phase.change(**fields)


__all__ = [
    "BINOMIAL", "ONE", "QUADRINOMIAL", "Tree", "choose", "collect", "double", "exchange", "fold",
    "halve", "linear_down", "linear_up", "ring_gather", "ring_reduce", "shifts", "unfold",
    "window", "window_size",
]  # fmt: skip
