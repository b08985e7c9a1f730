# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The time and the memory that a prediction will take, as estimated before it begins."""

from __future__ import annotations

from dataclasses import dataclass

from mpigauge.model.errors import UserError
from mpigauge.model.units import duration, many, memory
from mpigauge.products.predict.prediction import PING_PONG, names_of, shape_of
from mpigauge.schedules import find

PROGRAM_BYTES = 60 << 20
"""The memory of the program without any rank."""
BYTES_OF_RANK = 200
"""The memory of a rank: the messages of a round and their loads. 60 to 190 bytes were measured."""
SECONDS_OF_CELL = 50e-9
"""The time for a sender of a round. 15 to 47 ns were measured, in the mean of algorithms."""
LEAST_ANNOUNCED_S = 2.0
"""Predictions of less time are not announced."""


@dataclass(frozen=True)
class Effort:
    ranks: int
    seconds: float
    nbytes: int

    @property
    def words(self) -> str:
        """The sentence that announces it; empty: it is soon done."""
        if self.seconds < LEAST_ANNOUNCED_S:
            return ""
        return (
            f"{many(self.ranks, 'rank')} take about {duration(self.seconds)} and "
            f"{memory(self.nbytes)} of memory"
        )


def effort_of(nodes: int, ppn: int, operation: str = "") -> Effort:
    """The effort of all algorithms of a collective, at any sizes. Without a collective the time is
    unknown, and counts as 0."""
    ranks, cells = nodes * ppn, 0
    if operation not in ("", PING_PONG):
        shape = shape_of(nodes, ppn, operation, 1)
        cells = sum(find(f"{operation}/{name}").cells(shape) for name in names_of(operation))
    return Effort(ranks, cells * SECONDS_OF_CELL, PROGRAM_BYTES + ranks * BYTES_OF_RANK)


def check_memory(effort: Effort, available_bytes: int) -> None:
    """Checks that there is enough memory. UserError: there is not, with the estimate."""
    if effort.nbytes > available_bytes:
        room = max(available_bytes - PROGRAM_BYTES, 0) // BYTES_OF_RANK
        raise UserError(
            f"{effort.ranks} ranks take about {memory(effort.nbytes)} of memory, and "
            f"{memory(available_bytes)} are available, enough for {room}"
        )
