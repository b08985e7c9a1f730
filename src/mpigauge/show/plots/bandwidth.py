# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Bytes per second over message size."""

from __future__ import annotations

from mpigauge.draw.axes import BANDWIDTH
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Picture, Plot
from mpigauge.result.run_result import RunResults
from mpigauge.show.curves import BANDS, chosen_curves, is_collective, marked_words, over_size
from mpigauge.show.kinds import Chosen, plot
from mpigauge.show.limits import levels as levels_of


@plot("bandwidth", "bytes per second over message size, between ranks")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    held = chosen_curves(shown, lambda _, card: not is_collective(card), chosen)
    levels = levels_of(shown[0].document.limits, BANDWIDTH)
    panels = over_size(held, BANDWIDTH, lambda row: row.bandwidth, together=True, levels=levels)
    about = f"The plot shows bandwidth in powers of ten; both axes are logarithmic. {BANDS}"
    if panels:
        return picture(Plot("Bandwidth", about, tuple(panels), marked_words(panels)))
    return None
