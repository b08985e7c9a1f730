# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds floors of the time of small messages in device memory, far above that in host memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

from mpigauge.model.data_memory import DEVICE, HOST, PINNED, sides
from mpigauge.model.grouping import grouped
from mpigauge.model.units import duration, first_few
from mpigauge.products.explain.on_gpu import SMALL, Twin, twins
from mpigauge.result.finding import Finding
from mpigauge.result.stats.curve_stats import variant_of
from mpigauge.result.words import size, time

if TYPE_CHECKING:
    from mpigauge.result.run_view import RunView

Floor = list[Twin]
"""Small messages of one curve, each with the same in host memory."""
LONGEST_LAUNCH_S = 60e-6
"""The longest time that the launches of a few copies take on today's GPUs."""
_FLAT = 1.5
"""The largest ratio of the times of small messages for which they are a floor."""
_LEAST_SIZES = 2


def floors(view: RunView, least_s: float, most_s: float) -> list[Floor]:
    """The floors that lie so many seconds above the times in host memory. Those of ranks that are
    known to share a GPU are left out: they wait for each other."""
    small = [
        twin
        for twin in twins(view, _beside)
        if 0 < twin.row.message_bytes <= SMALL and not twin.row.cell.sharing
    ]
    by_curve = grouped(small, lambda twin: variant_of(twin.row.cell))
    return [of for of in by_curve.values() if _is_floor(of) and least_s <= more(of) < most_s]


def turns(view: RunView) -> list[Floor]:
    """The floors that are longer than launches of copies: those of processes that take turns."""
    return floors(view, LONGEST_LAUNCH_S, inf)


def finding(
    view: RunView, of: Sequence[Floor], likely: str, attempts: tuple[str, ...], proved: bool
) -> Finding:
    """The finding on these floors."""
    every = [twin for floor in of for twin in floor]
    row, other = min(every, key=lambda twin: twin.row.message_bytes)
    longest = max((twin.row for twin in every), key=lambda each: each.message_bytes)
    labels = (f"{each[0].row.benchmark} in {each[0].row.cell.memory} memory" for each in of)
    return Finding(
        what=f"{first_few(labels)}: small messages take {duration(min(map(more, of)))} or more "
        f"longer than in {other.cell.memory} memory, whatever their size",
        likely=likely,
        proved=proved,
        evidence=(
            f"{size(row)} take {time(row)}, in {other.cell.memory} memory {time(other)}",
            f"up to {size(longest)} the time hardly grows",
        ),
        attempts=attempts,
        rows=tuple(each for twin in every for each in twin),
        cost=view.cost(1 - 1 / twin.ratio for twin in every),
    )


def more(floor: Floor) -> float:
    """The seconds that each of its messages takes longer at least."""
    return min(twin.row.latency.value - twin.other.latency.value for twin in floor)


def _beside(memory: str) -> Sequence[str]:
    return (HOST, PINNED) if DEVICE in sides(memory) else ()


def _is_floor(floor: Floor) -> bool:
    times = [twin.row.latency.value for twin in floor]
    is_flat = len(floor) >= _LEAST_SIZES and max(times) <= _FLAT * min(times)
    return is_flat and all(twin.is_slower for twin in floor)
