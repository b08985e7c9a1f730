# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A phase of a schedule: rounds of one kind, described by expressions.

In each round every rank `rank` of the first `senders` sends, for each `lane` for which `when` is
true, a message to the rank `to`. All messages of a round read what their rank held before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from mpigauge.schedules.expression import (
    Expression,
    Term,
    both,
    ceil_div,
    choose,
    floor_log2,
    least,
    most,
    power_of_two,
    symbol,
    term,
)

RANK = symbol("rank")
"""The rank that sends, counted from the root."""
RANKS = symbol("ranks")
ROUND = symbol("round")
LANE = symbol("lane")
"""The number of a message among those that a rank sends in one round."""
PIECE = symbol("piece")
"""The number of a piece among those of one message."""
NODE_RANKS = symbol("node_ranks")
"""The ranks of a node; the last node may have fewer."""
SEGMENTS = symbol("segments")
"""The parts of the block of a rank, for algorithms that send segments."""
SYMBOLS = (RANK, RANKS, ROUND, LANE, PIECE, NODE_RANKS, SEGMENTS)


class Alike(Enum):
    """Common properties of the rounds of a phase."""

    NOTHING = "nothing"
    PATTERN = "pattern"
    """Each rank sends as much to the same rank in all of them."""
    SHIFT = "shift"
    """Each rank sends to the rank at distance k + 1 in round k."""


class Kind(str, Enum):
    """Ways of data from one rank to another."""

    MESSAGE = "message"
    COPY = "copy"
    """Through memory that both ranks share, with a flag."""


@dataclass(frozen=True, eq=False)
class Phase:
    """Rounds of one kind."""

    to: Expression
    rounds: Expression
    chunks: Expression = field(default_factory=lambda: term(1))
    """Into how many chunks the vector is divided."""
    senders: Expression = RANKS
    lanes: Expression = field(default_factory=lambda: term(1))
    when: Expression = field(default_factory=lambda: term(1))
    first: Expression = field(default_factory=lambda: term(0))
    """The first chunk of the message, in the vector of the source."""
    into: Expression | None = None
    """The first chunk in the vector of the target; None: the same."""
    count: Expression = field(default_factory=lambda: term(1))
    """Consecutive chunks; the first one follows the last one."""
    pieces: Expression = field(default_factory=lambda: term(1))
    """Ranges of consecutive chunks that a message may have."""
    piece_when: Expression = field(default_factory=lambda: term(1))
    """1 for the pieces that a message has."""
    weight: Expression | None = None
    """All chunks of a message; None: those of its only piece."""
    reduces: bool = False
    alike: Alike = Alike.NOTHING
    overlaps: bool = False
    """True if its rounds do not wait for each other."""
    kind: Kind = Kind.MESSAGE

    def change(self, **fields: object) -> Phase:
        """Returns a phase with other values of some fields."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return Phase(**{**values, **fields})

    def replace(self, terms: Mapping[Expression, Expression]) -> Phase:
        """Returns a phase with other terms in the place of symbols in all its expressions."""
        replaced = dict(terms)
        expressions = {
            name: value.replace(replaced)
            for name in self.__dataclass_fields__
            if isinstance(value := getattr(self, name), Expression)
        }
        return self.change(**expressions)


# --- numbers that several algorithms need ---------------------------------------------------
POWER = power_of_two(floor_log2(RANKS))
"""The largest power of two that is not above the number of ranks."""
LOG_POWER = floor_log2(RANKS)
BEYOND = RANKS - POWER
"""Ranks above that power. So many pairs of ranks (0 and 1, 2 and 3 …) act as one each."""
IS_FOLDED = both(RANK < 2 * BEYOND, RANK % 2)
"""1 for the ranks whose neighbour acts for them."""
PLACE = choose(RANK < 2 * BEYOND, RANK // 2, RANK - BEYOND)
"""The number of a rank among the power of two that act."""
ACTS = IS_FOLDED.equals(0)


def rank_at(place: Term) -> Expression:
    """The rank at a place; also the first block of the ranks that it acts for."""
    return choose(term(place) < BEYOND, 2 * term(place), term(place) + BEYOND)


# --- nodes ----------------------------------------------------------------------------------
NODE = RANK // NODE_RANKS
LOCAL = RANK % NODE_RANKS
NODES = ceil_div(RANKS, NODE_RANKS)
NODE_SIZE = least(NODE_RANKS, RANKS - NODE * NODE_RANKS)
"""The ranks on the node of a rank."""
SMALLEST_NODE = RANKS - (NODES - 1) * NODE_RANKS
"""The ranks of the last node, which no node has fewer than."""


def within_nodes(phase: Phase, has_own_blocks: bool = False) -> Phase:
    """Returns the phase on all nodes at once, each with its own ranks.

    With `has_own_blocks` each node has the blocks of its ranks.
    """
    largest = {RANKS: least(NODE_RANKS, RANKS)}
    own = {RANK: LOCAL, RANKS: NODE_SIZE}
    inner = phase.replace(own)
    if has_own_blocks:
        inner = inner.change(chunks=RANKS, first=NODE * NODE_RANKS + inner.first)
    return inner.change(
        to=NODE * NODE_RANKS + inner.to,
        rounds=phase.rounds.replace(largest),
        lanes=phase.lanes.replace(largest),
        senders=RANKS,
        when=both(inner.rounds > ROUND, inner.senders > LOCAL, inner.lanes > LANE, inner.when),
    )


def among_nodes(phase: Phase, lanes: Term = 1, splits: bool = False) -> Phase:
    """Returns the phase among the first ranks of all nodes, the second ones, up to `lanes`.

    With `splits` each of these groups has its own part of the vector.
    """
    inner = phase.replace({RANK: NODE, RANKS: NODES})
    result = inner.change(
        to=inner.to * NODE_RANKS + LOCAL,
        senders=RANKS,
        when=both(lanes > LOCAL, inner.senders > NODE, inner.when),
    )
    if not splits:
        return result
    return result.change(chunks=inner.chunks * lanes, first=LOCAL * inner.chunks + inner.first)


__all__ = [
    "ACTS", "BEYOND", "IS_FOLDED", "LANE", "LOCAL", "LOG_POWER", "NODE", "NODES", "NODE_RANKS",
    "NODE_SIZE", "PIECE", "PLACE", "POWER", "RANK", "RANKS", "ROUND", "SEGMENTS", "SMALLEST_NODE",
    "SYMBOLS", "Alike", "Kind", "Phase", "among_nodes", "most", "rank_at", "within_nodes",
]  # fmt: skip
