# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Steps of a schedule: who sends how much to whom, and which blocks these are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpigauge.schedules.phase import Kind

Array = NDArray[np.int64]
SEGMENT_BYTES = 64 * 1024
"""The size of a segment of algorithms that send segments: it stays in a cache while it is
reduced."""


@dataclass(frozen=True)
class Shape:
    """All that a schedule depends on besides its algorithm."""

    ranks: int
    message_bytes: int
    """The message as in the benchmark of the collective: of Allgather, Alltoall, Gather, Scatter
    and Reduce_scatter the block of one rank."""
    element_bytes: int = 1
    root: int = 0
    ranks_per_node: int = 0
    """Ranks are placed in blocks of so many; 0: all are on one node."""
    segment_bytes: int = SEGMENT_BYTES

    @property
    def elements(self) -> int:
        """The elements of a message."""
        return -(-self.message_bytes // self.element_bytes)

    @property
    def node_ranks(self) -> int:
        """The ranks of a node, but not more than there are."""
        return min(self.ranks_per_node or self.ranks, self.ranks)

    @property
    def segments(self) -> int:
        """The segments of the block of a rank, if the message is divided among all ranks."""
        block_bytes = -(-self.elements // self.ranks) * self.element_bytes
        return max(-(-block_bytes // self.segment_bytes), 1)


class Messages(NamedTuple):
    """Messages that are sent at the same time."""

    source: Array
    target: Array
    weight: int | Array
    """The number of chunks of each message; an int: of all of them."""


@dataclass(frozen=True, eq=False)
class Pattern:
    """Messages that are sent at the same time. It does not depend on the size of messages, and is
    the same object for all sizes, so what follows from it can be kept by it. The messages
    themselves are many on many ranks, so they are made anew when they are asked for."""

    make: Callable[[], Messages]
    reduces: bool = False
    kind: Kind = Kind.MESSAGE

    @cached_property
    def count(self) -> int:
        """The number of messages."""
        return len(self.make().source)

    @cached_property
    def most_chunks(self) -> int:
        """The chunks of the largest message."""
        return int(np.max(self.make().weight))


@dataclass(frozen=True, eq=False)
class Blocks:
    """The exact pieces of all messages of one round."""

    message: Array
    """The number of the message that a piece belongs to."""
    source: Array
    target: Array
    source_offset: Array
    """Bytes into the vector of the source."""
    target_offset: Array
    length: Array
    """Bytes of the piece, which may be 0."""


@dataclass(frozen=True, eq=False)
class Step:
    """Rounds in which the same messages are sent, or messages that load every node as much."""

    pattern: Pattern
    elements: int
    """The elements of the whole vector of a rank."""
    chunks: int
    """Into how many chunks the vector is divided."""
    element_bytes: int
    repeat: int
    """The number of rounds."""
    overlaps: bool
    """True if the rounds do not wait for each other."""
    make_blocks: Callable[[int], Blocks]

    @property
    def source(self) -> Array:
        """The rank that sends, for each message."""
        return self.pattern.make().source

    @property
    def target(self) -> Array:
        """The rank that receives, for each message."""
        return self.pattern.make().target

    @property
    def kind(self) -> Kind:
        """The way of the data to their target."""
        return self.pattern.kind

    @property
    def reduces(self) -> bool:
        """True if targets reduce what they receive."""
        return self.pattern.reduces

    @property
    def nbytes(self) -> int | Array:
        """The bytes of each message; an int: of all. No round has more, or less by more than an
        element."""
        elements = -(-(self.pattern.make().weight * self.elements) // max(self.chunks, 1))
        return elements * self.element_bytes

    @property
    def reduced_bytes(self) -> int | Array:
        """The bytes of each message that its target reduces."""
        return self.nbytes if self.reduces else 0

    def blocks(self, number: int) -> Blocks:
        """The pieces of the messages of one round, from 0 to below `repeat`."""
        if not 0 <= number < self.repeat:
            raise IndexError(f"round {number} of a step of {self.repeat}")
        return self.make_blocks(number)
