# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The times of victims beside each kind of aggressors, relative to those alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.draw.axes import Axis, plain
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.result.fabric.impact import Impact

Named = tuple[str, "Impact"]
"""An impact with the name of its run."""
_TIMES = Axis("time, of that alone", lambda value: f"{plain(value)} ×", 10, bare=plain)
_APART = 0.5
"""The width in which the points of one kind of aggressors lie side by side."""


@plot("impact", "how much longer victims take beside aggressors: medians and tails", choices=())
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:  # noqa: ARG001
    """Draws a panel for each victim. Rows whose aggressors stopped early are left out."""
    named: list[Named] = []
    for each in shown:
        if each.fabric:
            name = each.name if len(shown) > 1 else ""
            named += [(name, impact) for impact in each.fabric.impacts if not impact.is_stopped]
    if not named:
        return None
    about = (
        "A point is the time of a call beside aggressors over that alone, with its 95 % interval "
        "over the rounds. Aggressors that sleep are the control."
    )
    return picture(Plot("Victims beside aggressors", about, tuple(_panels(named))))


def _panels(named: Sequence[Named]) -> Iterator[Panel]:
    from mpigauge.result.fabric.impact import AGGRESSORS, impact_name

    there = [name for name in AGGRESSORS if any(each.aggressor == name for _, each in named)]
    axis = Axis.of_names("aggressors", there)
    victims = dict.fromkeys((each.victim, each.message_bytes) for _, each in named)
    for victim, size in victims:
        own = [(run, i) for run, i in named if (i.victim, i.message_bytes) == (victim, size)]
        series = tuple(_series(own, there))
        yield Panel(impact_name(victim, size), axis, _TIMES, series, level=1.0, style="dots")


def _series(named: Sequence[Named], there: Sequence[str]) -> Iterator[Series]:
    """The medians and the 99th percentiles of each run, side by side."""
    runs = list(dict.fromkeys(run for run, _ in named))
    many = 2 * len(runs)
    for number, run in enumerate(runs):
        for tail, words in enumerate(("median", "99 %")):
            aside = _APART * ((2 * number + tail + 0.5) / many - 0.5)
            points = []
            for name, impact in named:
                value = impact.tail if tail else impact.median
                if name == run and value.value > 0:
                    points.append(Point.of(there.index(impact.aggressor) + aside, value))
            if points:
                yield Series(f"{words} · {run}" if run else words, tuple(points))
