# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The distance of the two ranks of a row, as the ranks read their cores back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.cpu_lists import pus_of
from mpigauge.model.placement import Seat
from mpigauge.model.placement_words import HOST
from mpigauge.result.pairs import level_of, levels_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.model.record import Rank
    from mpigauge.model.row import Row
    from mpigauge.runs.store import Run

_PAIR = 2


def distances_of(run: Run) -> Callable[[Row], str]:
    """Returns a function from a row of this run to the distance of its two ranks, in words of
    `--place`; empty: it has not two ranks, or their cores are unknown."""
    levels = levels_of(run)
    by_launch: dict[int, dict[int, Rank]] = {}
    for rank in run.ranks:
        by_launch.setdefault(rank.launch, {})[rank.rank] = rank

    def distance(row: Row) -> str:
        cell = row.cell
        if cell.ranks * cell.groups != _PAIR:
            return ""
        words = cell.members.split(",") if cell.members else ("0", "1")
        ranks = by_launch.get(cell.launch, {})
        two = [ranks[int(word)] for word in words if word.isdigit() and int(word) in ranks]
        if len(two) != _PAIR:
            return ""
        first, second = (Seat(rank.host, pus_of(rank)) for rank in two)
        if first.host == second.host and first.pus & second.pus:
            return ""  # not bound
        word = level_of(first, second, levels)
        return "" if word == HOST else word

    return distance
