# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Very many curves on a page: what is usual is drawn, any one of them when somebody asks for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mpigauge.draw.chart import frames, picture
from mpigauge.model.column_facts import USUAL
from mpigauge.model.units import many
from mpigauge.result.stats.curve_stats import groups, most_informative
from mpigauge.show.curves import word
from mpigauge.show.kinds import ALL, MANY_ROWS
from mpigauge.show.plots.usual import usual_plot
from mpigauge.show.web.cells import packed

if TYPE_CHECKING:
    from mpigauge.draw.frame import Frame
    from mpigauge.draw.plot import Picture
    from mpigauge.result.stats.curve_stats import Member
    from mpigauge.show.kinds import Shown

MOST_ROWS = 200_000
"""That a page carries: about two megabytes."""


class Every(NamedTuple):
    picture: Picture
    packed: str
    said: tuple[str, ...]


def every(shown: Shown) -> Every | None:
    """None: the run has no more curves than a page shows anyway."""
    few = not shown.of_large and len(shown.view.rows) <= MANY_ROWS
    plot = None if few else usual_plot(shown, ALL)
    if plot is None:
        return None
    drawn = [m for of in list(groups(_sized(shown)).values())[: len(plot.panels)] for m in of]
    kept = drawn
    rows = sum(len(m.sizes) for m in drawn)
    panels = {group: number for number, group in enumerate(groups(drawn))}
    said = [f"The run has {rows} rows of {len(drawn)} curves."]
    if rows > MOST_ROWS:
        kept = [drawn[place] for place in most_informative(drawn, MOST_ROWS)]
        said.append(
            f"The page carries the {len(kept)} that are farthest from the usual; "
            "`mpigauge export csv RUN` writes all."
        )
    return Every(picture(plot), packed(_data(kept, panels, frames(plot))), tuple(said))


def _sized(shown: Shown) -> list[Member]:
    return [m for m in shown.members if m.sizes[-1] >= 0]


def _data(
    members: Sequence[Member], panels: Mapping[tuple[str, int], int], drawn: Sequence[Frame]
) -> dict[str, Any]:
    """Panels with where a size stands and how a time does, the lists of sizes, and the curves."""
    sizes: dict[tuple[int, ...], int] = {}
    curves = [
        [name_of(m), panels[m.group], sizes.setdefault(m.sizes, len(sizes)),
         [_digits(t * 1e6) for t in m.times], [_digits(100 * e) for e in m.errors]]
        for m in members
    ]  # fmt: skip
    known = sorted({size for of in sizes for size in of if size >= 0})
    return {
        "panels": [_panel(frame, known) for frame in drawn],
        "sizes": list(sizes),
        "curves": curves,
    }


def _panel(frame: Frame, sizes: Sequence[int]) -> dict[str, Any]:
    """y = a + b · ln(time in µs)."""
    low, high = frame.y.low, frame.y.high
    slope = -frame.high / math.log(high / low)
    return {
        "x": {str(size): round(frame.at(size, low)[0], 1) for size in sizes},
        "y": [frame.top + frame.high - slope * math.log(low * 1e6), slope],
    }


def name_of(member: Member) -> str:
    """A usual number says nothing."""
    told = (
        word(name, value)
        for name, value in member.told
        if isinstance(value, str) or value != USUAL.get(name)
    )
    return " · ".join(filter(None, (member.benchmark, many(member.ranks, "rank"), *told)))


def _digits(value: float) -> float | None:
    """Four of them; nothing where it is not known."""
    return float(f"{value:.4g}") if math.isfinite(value) else None
