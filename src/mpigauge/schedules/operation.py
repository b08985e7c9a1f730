# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The collectives that schedules are made for, and how their data are numbered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Operation:
    """A collective.

    All data of a rank are one vector, from which and into which it sends and receives. The vector
    is divided into chunks of (nearly) equal size. If a collective has a message for each rank, the
    vector has a block for each rank.
    """

    name: str
    reduces: bool = False
    has_root: bool = False
    has_block_per_rank: bool = False
    spaces: int = 1
    """Vectors of a rank, one behind the other. Alltoall has three: the blocks to send, ordered by
    target; those received, ordered by source; those on their way, ordered by distance."""
    moves_data: bool = True
    rotates_blocks: bool = False
    """True if a block belongs to a rank, and ranks are numbered from the root."""

    def elements(self, ranks: int, elements: int) -> int:
        """The elements of the vector of a rank, for a message of so many elements."""
        if not self.moves_data:
            return 0
        return elements * self.spaces * (ranks if self.has_block_per_rank else 1)


OPERATIONS: Mapping[str, Operation] = {
    each.name: each
    for each in (
        Operation("Allgather", has_block_per_rank=True),
        Operation("Allreduce", reduces=True),
        Operation("Alltoall", has_block_per_rank=True, spaces=3),
        Operation("Barrier", moves_data=False),
        Operation("Bcast", has_root=True),
        Operation("Gather", has_root=True, has_block_per_rank=True, rotates_blocks=True),
        Operation("Reduce", reduces=True, has_root=True),
        Operation("Reduce_scatter", reduces=True, has_block_per_rank=True),
        Operation("Scatter", has_root=True, has_block_per_rank=True, rotates_blocks=True),
    )
}
