# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What is usual among very many curves: their middle, and between what they lie."""

from __future__ import annotations

from collections.abc import Sequence

from mpigauge.draw.axes import SIZE, TIME
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.model.units import many
from mpigauge.result.stats.curve_stats import Member, groups, usual
from mpigauge.show.kinds import Chosen, Shown, plot

MOST_PANELS = 24
MIDDLE = "median of all curves"


@plot("usual", "very many curves of a benchmark as one: the median, and between what they lie")
def draw(shown: Sequence[Shown], chosen: Chosen) -> Picture | None:
    """Of the first run that has so many."""
    for each in shown:
        if found := usual_plot(each, chosen):
            return picture(found)
    return None


def usual_plot(shown: Shown, chosen: Chosen) -> Plot | None:
    named = chosen.benchmark.lower()
    members = [m for m in shown.members if named in ("", m.benchmark.lower()) and m.sizes[-1] >= 0]
    found = groups(members)
    if not found:
        return None
    panels = tuple(_panel(*each) for each in list(found.items())[:MOST_PANELS])
    left = len(found) - len(panels)
    notes = (f"{left} more benchmarks or numbers of ranks are not drawn.",) if left > 0 else ()
    about = (
        f"{len(members)} curves, time over message size, both on axes of logarithms. Dark band: "
        "the middle half of them; pale: from the fastest to the slowest."
    )
    return Plot("All curves", about, panels, notes)


def _panel(group: tuple[str, int], members: Sequence[Member]) -> Panel:
    """With the middle half as its interval, and all of them as its range."""
    points = (
        Point(each.message_bytes, each.times[2], each.times[1], each.times[3], each.times[0],
              each.times[4])
        for each in usual(members)
        if each.message_bytes >= 0
    )  # fmt: skip
    benchmark, ranks = group
    title = f"{benchmark} on {many(ranks, 'rank')}, {len(members)} curves"
    return Panel(title, SIZE, TIME, (Series(MIDDLE, tuple(points)),))
