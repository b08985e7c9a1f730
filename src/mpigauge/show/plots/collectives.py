# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Collectives side by side: a small plot for each, over message size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.draw.axes import TIME
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Picture, Plot
from mpigauge.result.run_result import RunResults
from mpigauge.show.curves import BANDS, chosen_curves, is_collective, marked_words, over_size
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate, Row


def with_data(row: Row) -> Estimate | None:
    """The time of a call; None of one that moves nothing: it is none of the network's."""
    if not row.message_bytes:
        return None
    return row.latency


@plot("collectives", "the time of each collective over message size, in small multiples")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    held = chosen_curves(shown, lambda _, card: is_collective(card), chosen)
    panels = over_size(held, TIME, with_data)
    if not panels:
        return None
    about = (
        f"The plot shows the time of a call on the slowest rank; both axes are logarithmic. {BANDS}"
    )
    return picture(Plot("Collectives", about, tuple(panels), marked_words(panels)))
