# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What a sweep varied: the curves of each benchmark under each setting, transport or placement."""

from __future__ import annotations

from mpigauge.draw.axes import TIME
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Picture, Plot
from mpigauge.result.run_result import RunResults
from mpigauge.show.curves import by_benchmark, chosen_curves, marked_words, over_size
from mpigauge.show.kinds import Chosen, plot


@plot("arms", "times over message size under each setting, transport or placement")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    varied = [
        held
        for run in shown
        for _, of in by_benchmark(chosen_curves([run], lambda _, __: True, chosen))
        if len({(h.curve.first.cell.arm, h.curve.first.cell.placement) for h in of}) > 1
        for held in of
    ]
    panels = over_size(varied, TIME, lambda row: row.latency)
    about = "Time over message size, both on axes of logarithms, a curve for each arm."
    return (
        picture(Plot("Settings and placements", about, tuple(panels), marked_words(panels)))
        if panels
        else None
    )
