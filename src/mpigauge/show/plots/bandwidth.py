# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Bytes per second over message size."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.draw.axes import BANDWIDTH
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Picture, Plot
from mpigauge.show.curves import BANDS, chosen_curves, is_collective, marked_words, over_size
from mpigauge.show.kinds import Chosen, Shown, plot


@plot("bandwidth", "bytes per second over message size, between ranks")
def draw(shown: Sequence[Shown], chosen: Chosen) -> Picture | None:
    held = chosen_curves(shown, lambda _, card: not is_collective(card), chosen)
    levels = shown[0].levels(BANDWIDTH)
    panels = over_size(held, BANDWIDTH, lambda row: row.bandwidth, together=True, levels=levels)
    about = f"Bandwidth (powers of ten) over message size, both on axes of logarithms. {BANDS}"
    return (
        picture(Plot("Bandwidth", about, tuple(panels), marked_words(panels))) if panels else None
    )
