# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Very many curves as one: their median and range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.draw.axes import SIZE, TIME
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.model.units import many
from mpigauge.result.run_result import RunResult, RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from mpigauge.result.stats.curve_stats import CurveGroup

MOST_PANELS = 24
MIDDLE = "median of all curves"


@plot("usual", "very many curves of a benchmark as one: the median, and between what they lie")
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:
    """A picture of the first run that has so many."""
    for each in shown:
        if drawn := usual_plot(each, chosen):
            return picture(drawn)
    return None


def usual_plot(shown: RunResult, chosen: Chosen) -> Plot | None:
    curves = shown.many_curves.of_benchmark(chosen.benchmark)
    if not curves.groups:
        return None
    panels = [_panel(group) for group in curves.groups[:MOST_PANELS]]
    left = len(curves.groups) - len(panels)
    notes: tuple[str, ...] = ()
    if left > 0:
        notes = (f"{left} more benchmarks or numbers of ranks are not drawn.",)
    about = (
        f"The plot shows {len(curves.members)} curves; both axes are logarithmic. The dark band "
        "holds the middle half of them, the pale one all from the fastest to the slowest."
    )
    return Plot("All curves", about, tuple(panels), notes)


def _panel(group: CurveGroup) -> Panel:
    """The median with the middle half as its interval, and all curves as its range."""
    points = []
    for each in group.usual:
        if each.message_bytes >= 0:
            least, low, middle, high, most = each.times
            points.append(Point(each.message_bytes, middle, low, high, least, most))
    title = f"{group.benchmark} on {many(group.ranks, 'rank')}, {len(group.members)} curves"
    return Panel(title, SIZE, TIME, (Series(MIDDLE, tuple(points)),))
