# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The curves of each benchmark of a sweep under each setting, transport or placement."""

from __future__ import annotations

from mpigauge.draw.axes import TIME
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Picture, Plot
from mpigauge.result.run_result import RunResults
from mpigauge.show.curves import Held, by_benchmark, chosen_curves, marked_words, over_size
from mpigauge.show.kinds import Chosen, plot


@plot("arms", "times over message size under each setting, transport or placement")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    varied: list[Held] = []
    for run in shown:
        for _, of in by_benchmark(chosen_curves([run], lambda _, __: True, chosen)):
            cells = [held.curve.first.cell for held in of]
            if len({(cell.arm, cell.placement) for cell in cells}) > 1:
                varied += of
    panels = over_size(varied, TIME, lambda row: row.latency)
    if not panels:
        return None
    about = "Each curve is the time of a setting; both axes are logarithmic."
    plot = Plot("Settings and placements", about, tuple(panels), marked_words(panels))
    return picture(plot)
