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
from mpigauge.show.curves import word
from mpigauge.show.kinds import ALL, MANY_ROWS
from mpigauge.show.plots.usual import usual_plot
from mpigauge.show.web.cells import packed

if TYPE_CHECKING:
    from mpigauge.draw.frame import Frame
    from mpigauge.draw.plot import Picture
    from mpigauge.result.run_result import RunResult
    from mpigauge.result.stats.curve_stats import Member

MOST_ROWS = 200_000
"""The most rows that a page carries: about two megabytes."""


class Every(NamedTuple):
    picture: Picture
    packed: str
    notes: tuple[str, ...]


def every(shown: RunResult) -> Every | None:
    """All curves of a large run, with their rows packed; None: the run has no more than a page
    shows anyway."""
    if not shown.of_large and len(shown.view.rows) <= MANY_ROWS:
        return None
    plot = usual_plot(shown, ALL)
    if plot is None:
        return None
    drawn = shown.many_curves.first(len(plot.panels))
    kept = drawn.members
    rows = sum(len(member.sizes) for member in kept)
    notes = [f"The run has {rows} rows of {len(kept)} curves."]
    if rows > MOST_ROWS:
        kept = drawn.most_informative(MOST_ROWS)
        notes.append(
            f"The page carries the {len(kept)} that are farthest from the usual; "
            "`mpigauge export csv RUN` writes all."
        )
    panels = {(group.benchmark, group.ranks): at for at, group in enumerate(drawn.groups)}
    return Every(picture(plot), packed(_data(kept, panels, frames(plot))), tuple(notes))


def _data(
    members: Sequence[Member], panels: Mapping[tuple[str, int], int], drawn: Sequence[Frame]
) -> dict[str, Any]:
    """Panels with where a size stands and how a time does, the lists of sizes, and the curves."""
    sizes: dict[tuple[int, ...], int] = {}
    curves: list[list[Any]] = []
    for member in members:
        of_sizes = sizes.setdefault(member.sizes, len(sizes))
        times = [_digits(time * 1e6) for time in member.times]
        errors = [_digits(100 * error) for error in member.errors]
        curves.append([name_of(member), panels[member.group], of_sizes, times, errors])
    all_sizes = sorted({size for of in sizes for size in of if size >= 0})
    return {
        "panels": [_panel(frame, all_sizes) for frame in drawn],
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
    words = [member.benchmark, many(member.ranks, "rank")]
    for column, value in member.columns:
        if isinstance(value, str) or value != USUAL.get(column):
            words.append(word(column, value))
    return " · ".join(filter(None, words))


def _digits(value: float) -> float | None:
    """Four of them; nothing where it is not known."""
    if math.isfinite(value):
        return float(f"{value:.4g}")
    return None
