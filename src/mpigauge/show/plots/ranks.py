# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Times over the number of ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.draw.axes import RANKS, TIME
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.model.column_facts import PREDICTED
from mpigauge.model.units import byte_count, dotted
from mpigauge.result.run_result import RunResults
from mpigauge.show.curves import Held, by_benchmark, chosen_curves, is_collective
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from mpigauge.model.row import Row

MOST_SIZES = 6


@plot("ranks", "the time of each collective over the number of ranks, at some sizes")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    held = chosen_curves(shown, lambda _, card: is_collective(card), chosen)
    panels = []
    for benchmark, of in by_benchmark(held):
        if len({each.curve.first.ranks for each in of}) > 1:
            panels.append(Panel(benchmark, RANKS, TIME, tuple(_series(of))))
    if not panels:
        return None
    about = "The plot shows the time of a call on the slowest rank; both axes are logarithmic."
    return picture(Plot("Over ranks", about, tuple(panels)))


def _series(held: Sequence[Held]) -> Iterator[Series]:
    """Some sizes of each run that have the same variant at several numbers of ranks."""
    rows_of: dict[tuple[int, tuple[str, ...]], list[Row]] = {}
    several = len({each.shown.name for each in held}) > 1
    for each in held:
        for row in each.curve.rows:
            cell = row.cell
            cache = cell.cache if cell.cache != "hot" else ""
            name = each.shown.name if several else ""
            words = name, cell.placement, cell.arm, cache, cell.source
            rows_of.setdefault((row.message_bytes, words), []).append(row)
    grown = {key: rows for key, rows in rows_of.items() if len({row.ranks for row in rows}) > 1}
    sizes = sorted({row.message_bytes for rows in grown.values() for row in rows})
    kept = sizes[:: -(-len(sizes) // MOST_SIZES)]
    for (size, variant), rows in grown.items():
        if size in kept:
            points = [
                Point.of(row.ranks, row.latency, row.cell.origin == PREDICTED) for row in rows
            ]
            points.sort(key=lambda point: point.x)
            yield Series(dotted(byte_count(size), *variant), tuple(points))
