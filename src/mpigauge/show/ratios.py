# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Times of runs or settings by those of the first, as a plot: the 3 % that two curves hide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.draw.axes import SIZE, Axis, plain
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.result.compare.match.items import SECONDS
from mpigauge.show.kinds import ALL

if TYPE_CHECKING:
    from mpigauge.result.compare.comparison import Comparison, ComparisonTable
    from mpigauge.show.kinds import Chosen


def compared_picture(comparison: Comparison, chosen: Chosen = ALL) -> Picture | None:
    """A picture of runs compared with the first of them. None: they have no times at sizes in
    common."""
    panels = list(ratio_panels(comparison, chosen))
    return ratio_picture(panels, comparison.names[0], "Runs")


def ratio_picture(panels: Sequence[Panel], first: str, others: str) -> Picture | None:
    """`first`: what times are divided by; `others`: what the curves are where they are several.
    None: there are no panels."""
    if not panels:
        return None
    names = {series.name for panel in panels for series in panel.series}
    about = (
        f"The plot shows times divided by those of {first}; below the line at 1 is faster. Bands "
        "show the interval of the ratio."
    )
    who = names.pop() if len(names) == 1 else others
    return picture(Plot(f"{who} against {first}", about, tuple(panels)))


def ratio_panels(comparison: Comparison, chosen: Chosen, of: str = "") -> Iterator[Panel]:
    """A panel for each benchmark and number of ranks; `of`: what their titles begin with."""
    first = comparison.names[0]
    ratio = Axis(f"time divided by that of {first}", plain, 10)
    for table in comparison.tables:
        item = table.first
        is_chosen = chosen.benchmark.lower() in ("", item.benchmark.lower())
        series = tuple(_series(comparison, table))
        if is_chosen and item.unit == SECONDS and item.message_bytes >= 0 and series:
            title = f"{of}{item.benchmark}"
            if item.ranks_word:
                title = f"{title} on {item.ranks_word}"
            yield Panel(title, SIZE, ratio, series, level=1.0, level_name=first)


def _series(comparison: Comparison, table: ComparisonTable) -> Iterator[Series]:
    for number, name in enumerate(comparison.names[1:], 1):
        points = []
        for entry in table.column(number):
            if entry.item and entry.ratio and entry.ratio.launches:
                points.append(Point.of(entry.item.message_bytes, entry.ratio.estimate))
        if points:
            yield Series(name, tuple(points))
