# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What each setting, transport or placement gains over the default, with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mpigauge.draw.axes import SIZE, Axis, plain
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.model.units import many
from mpigauge.result.compare.items import SECONDS
from mpigauge.show.kinds import Chosen, Shown, plot

if TYPE_CHECKING:
    from mpigauge.result.compare.compare import Comparison, ComparisonTable


@plot("best", "the time under each setting by that of the default, with its interval")
def draw(shown: Sequence[Shown], chosen: Chosen) -> Picture | None:
    """Of each run that varies something; panels are named by their runs where these are several."""
    found = [(each.name, each.arms) for each in shown if each.arms]
    panels = tuple(
        panel
        for name, comparison in found
        for panel in _panels(f"{name}: " if len(shown) > 1 else "", comparison, chosen)
    )
    defaults = dict.fromkeys(comparison.names[0] for _, comparison in found)
    first = defaults.popitem()[0] if len(defaults) == 1 else "its default"
    arms = {series.name for panel in panels for series in panel.series}
    about = (
        f"Time divided by that of {first}, over message size; below the line at 1 is faster. "
        "Bands: the interval of the ratio."
    )
    title = f"{arms.pop() if len(arms) == 1 else 'Arms'} against {first}"
    return picture(Plot(title, about, panels)) if panels else None


def _panels(of: str, comparison: Comparison, chosen: Chosen) -> Iterator[Panel]:
    ratio = Axis(f"time divided by that of {comparison.names[0]}", plain, 10)
    for table in comparison.tables:
        first = table.first
        wanted = chosen.benchmark.lower() in ("", first.benchmark.lower())
        series = tuple(_series(comparison, table))
        if wanted and first.unit == SECONDS and first.message_bytes >= 0 and series:
            ranks = dict(first.columns).get("ranks")
            on = f" on {many(ranks, 'rank')}" if ranks else ""
            title = f"{of}{first.benchmark}{on}"
            yield Panel(title, SIZE, ratio, series, level=1.0, level_name=comparison.names[0])


def _series(comparison: Comparison, table: ComparisonTable) -> Iterator[Series]:
    for number, name in enumerate(comparison.names[1:], 1):
        points = tuple(
            Point.of(entry.item.message_bytes, entry.ratio.estimate)
            for entry in table.column(number)
            if entry.item and entry.ratio and entry.ratio.launches
        )
        if points:
            yield Series(name, points)
