# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The way in which ranks were synchronized before a call, if earlier launches determined it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.model.columns import Cell


def started_by_clock(cells: Iterable[Cell]) -> tuple[str, ...] | None:
    """The cells of the first of these launches that started by the clock, in the kernels' words
    SUITE:NAME/RANKS/BYTES; None: there is no launch yet."""
    every = list(cells)
    first = min((cell.launch for cell in every), default=None)
    if first is None:
        return None
    own = [cell for cell in every if cell.launch == first and cell.sync == "clock"]
    return tuple(dict.fromkeys(map(_word, own)))


def _word(cell: Cell) -> str:
    name = f"{cell.suite}:{cell.benchmark}"
    return f"{name}/{cell.ranks}/{max(cell.message_bytes, 0)}"


def same_meeting(cells: Iterable[Cell]) -> str:
    """The synchronization of all synchronized cells; empty: they differ, or there are none."""
    ways = {cell.sync for cell in cells} - {"none"}
    if len(ways) == 1:
        return ways.pop()
    return ""
