# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The times of victims beside each kind of aggressors, relative to those alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.draw.axes import Axis, plain
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Panel, Picture, Plot, Point, Series
from mpigauge.model.units import dotted
from mpigauge.result.run_result import RunResults
from mpigauge.show.kinds import Chosen, plot

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.result.fabric.impact import Impact

Named = tuple[str, "Impact"]
"""An impact with the name of its run."""
_TIMES = Axis("time, of that alone", lambda value: f"{plain(value)} ×", 10, bare=plain)
SOURCE, _FACTOR = "GPCNeT", ", impact "
"""The benchmark of imported factors, and the part of their names before Avg or 99%."""
_APART = 0.5
"""The width in which the points of one kind of aggressors lie side by side."""


@plot("impact", "how much longer victims take beside aggressors: medians and tails", choices=())
def draw(shown: RunResults, chosen: Chosen) -> Picture | None:  # noqa: ARG001
    """Draws a panel for each victim, and one for the factors that GPCNeT printed. Rows whose
    aggressors stopped early are left out."""
    named: list[Named] = []
    for each in shown:
        if fabric := each.view.fabric:
            name = each.name if len(shown) > 1 else ""
            named += [(name, impact) for impact in fabric.impacts if not impact.is_stopped]
    panels = [*_panels(named), *_printed(shown)]
    if not panels:
        return None
    about = (
        "A point is the time of a call beside aggressors over that alone, with its 95 % interval "
        "over the rounds. Aggressors that sleep are the control. Factors that GPCNeT printed have "
        "no interval."
    )
    return picture(Plot("Victims beside aggressors", about, tuple(panels)))


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


def _printed(shown: RunResults) -> Iterator[Panel]:
    """The factors of imported runs, by the names of their tests."""
    curves: dict[str, list[tuple[str, float]]] = {}
    for each in shown:
        for row in each.document.figure_rows:
            test, printed, which = row.figure.name.rpartition(_FACTOR)
            if printed and row.figure.benchmark == SOURCE:
                name = dotted(which, each.name if len(shown) > 1 else "")
                curves.setdefault(name, []).append((test, row.value.value))
    tests = list(dict.fromkeys(test for of in curves.values() for test, _ in of))
    series = []
    for name, of in curves.items():
        series.append(Series(name, tuple(Point(tests.index(test), value) for test, value in of)))
    if series:
        axis = Axis.of_names("test", tests)
        yield Panel(SOURCE, axis, _TIMES, tuple(series), level=1.0, style="dots")
