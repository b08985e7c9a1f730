# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Times of messages between ranks over their size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.draw.axes import TIME
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Picture, Plot
from mpigauge.result.run_result import RunResults
from mpigauge.show.curves import BANDS, chosen_curves, is_collective, marked_words, over_size
from mpigauge.show.kinds import Chosen, plot
from mpigauge.show.limits import levels as levels_of

if TYPE_CHECKING:
    from mpigauge.model.cards import Card


@plot("latency", "the time of a message over its size, between ranks")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    held = chosen_curves(shown, lambda _, card: _fits(card), chosen)
    levels = levels_of(shown[0].document.limits, TIME)
    panels = over_size(held, TIME, lambda row: row.latency, together=True, levels=levels)
    about = f"The plot shows the time of a message; both axes are logarithmic. {BANDS}"
    if panels:
        return picture(Plot("Latency", about, tuple(panels), marked_words(panels)))
    return None


def _fits(card: Card | None) -> bool:
    """True if the benchmark times single messages, not many in flight."""
    return not is_collective(card) and not (card and card.windowed)
