# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The pages of numbers over time: a list of numbers, and one number with its changes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from mpigauge.draw.axes import DATE, TIME, days, in_unit
from mpigauge.draw.chart import picture
from mpigauge.draw.plot import Mark, Panel, Picture, Plot, Point, Series
from mpigauge.model.units import duration, number, plus_minus
from mpigauge.products.browse.pages import ListView, filled_page
from mpigauge.products.browse.spark import sparkline
from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL

if TYPE_CHECKING:
    from mpigauge.draw.axes import Axis
    from mpigauge.model.row import Estimate
    from mpigauge.products.browse.shifts import Shift
    from mpigauge.products.browse.trend import FactChange, Trend, TrendPoint

MOST_MARKED = 12
"""The maximum number of changes marked in one plot."""


@dataclass(frozen=True)
class NumberLine:
    """A number in the list."""

    name: str
    more: str
    """The values that distinguish it from others of the same name."""
    mpi: str
    host: str
    runs: int
    first: str
    last: str
    href: str
    spark: str
    """The newest runs and their steps, as SVG."""
    verdict: str
    """The verdict of the last step with its day; without a step SAME or UNDECIDED."""


@dataclass(frozen=True)
class TrendLine:
    run: str
    begun: str
    value: str
    error: str
    launches: int
    flags: str
    before: str
    """The previous run; empty: this is the first."""


def trends_page(base: str, listed: ListView, lines: Sequence[NumberLine], counts: str) -> str:
    return filled_page("trends", base, "Numbers over time", "Trends", lines=lines, counted=counts,
                       **vars(listed))  # fmt: skip


def small_trend(of: Trend) -> str:
    """Draws the runs in their order, with a line at each step."""
    values = [point.value.value for point in of.points]
    about = f"{len(values)} runs: {verdict(of)}"
    return sparkline(values, about, of.places, wide=220, high=48)


def verdict(of: Trend) -> str:
    """Returns the verdict in words: "SLOWER since 2026-10-09, +20 %", SAME or UNDECIDED."""
    if not of.steps:
        return of.verdict
    step = of.steps[-1]
    day = f"{of.points[step.place].time:%Y-%m-%d}"
    return f"{of.verdict} since {day}, {100 * (step.ratio.estimate.value - 1):+.2g} %"


def trend_page(base: str, title: str, where: str, of: Trend, unit: str, left: str = "") -> str:
    """Returns the page of one number. `where`: host, MPI and settings; `unit`: s, or the unit of a
    figure; `left`: a sentence about runs left out."""
    axis = TIME if unit == "s" else in_unit(unit)
    sentences = list(_near_steps(of))
    if left:
        sentences.append(left)
    return filled_page(
        "trend",
        base,
        title,
        "",
        where=where,
        sentence=of.sentence,
        said=sentences,
        picture=picture_of_trend(title, of, axis),
        changes=list(_changes(of)),
        lines=list(_lines(of, unit))[::-1],
    )


def picture_of_trend(title: str, of: Trend, axis: Axis) -> Picture:
    """Draws each run with its interval, the levels between steps, and the changes."""
    points = [Point.of(days(point.time), point.value) for point in of.points]
    series = [Series("runs", tuple(points))]
    if of.steps:
        series.append(Series("level between steps", tuple(_levels(of))))
    numbered = list(enumerate(of.changes, 1))[-MOST_MARKED:]
    marks = [_mark(of, number, change) for number, change in numbered]
    panel = Panel("", DATE, axis, tuple(series), tuple(marks))
    about = (
        "Each point is a run with its interval; dashed lines mark changes in the passports of runs."
    )
    notes: tuple[str, ...] = ()
    if len(of.changes) > MOST_MARKED:
        notes = (f"Of {len(of.changes)} changes the last {MOST_MARKED} are marked.",)
    return replace(picture(Plot(title, about, (panel,), notes)), rows=())


def _levels(of: Trend) -> Iterator[Point]:
    """Yields the geometric mean of the runs between steps, at their first and last run."""
    for start, end in pairwise((0, *of.places, len(of.points))):
        held = of.points[start:end]
        logs = [math.log(point.value.value) for point in held]
        level = math.exp(math.fsum(logs) / len(logs))
        for point in (held[0], held[-1]):
            yield Point(days(point.time), level)


def _mark(of: Trend, number: int, change: FactChange) -> Mark:
    day = of.points[change.place].time
    return Mark(days(day), str(number), (f"({number}) {day:%Y-%m-%d} {'; '.join(change.words)}.",))


def _near_steps(of: Trend) -> Iterator[str]:
    """Yields a sentence for each step about the changes near it."""
    for step in of.steps:
        near = ", ".join(f"({number})" for number in of.near(step))
        day = f"{of.points[step.place].time:%Y-%m-%d}"
        if near:
            yield (f"Near the step of {day} changed {near}: see below. It need not be the cause.")
        else:
            yield f"Near the step of {day} nothing that runs record changed."


def _changes(of: Trend) -> Iterator[Sequence[str]]:
    ends = [0]
    for change in of.changes:
        ends.append(change.place)
    ends.append(len(of.points))
    for place, (change, shift) in enumerate(zip(of.changes, of.at_changes, strict=True)):
        point = of.points[change.place]
        before, after = ends[place + 1] - ends[place], ends[place + 2] - ends[place + 1]
        yield (
            f"({place + 1})", f"{point.time:%Y-%m-%d}", point.run, "; ".join(change.words),
            str(before), str(after), *_ratio(of, shift),
        )  # fmt: skip


def _ratio(of: Trend, shift: Shift) -> Iterator[str]:
    estimate = shift.ratio.estimate
    yield number(estimate.value, estimate.error)
    ends = ""
    if math.isfinite(estimate.low):
        ends = f"{number(estimate.low, estimate.error)}–{number(estimate.high, estimate.error)}"
    yield ends
    word, why = of.word(shift), shift.undecided
    yield f"{word} ({why})" if why else word


def _lines(of: Trend, unit: str) -> Iterator[TrendLine]:
    before = ""
    for point in of.points:
        error = plus_minus(point.value.relative_error) if _has_interval(point) else ""
        begun = f"{point.time:%Y-%m-%d %H:%M}"
        value = _in_unit(point.value, unit)
        flags = ", ".join(point.flags)
        yield TrendLine(point.run, begun, value, error, point.launches, flags, before)
        before = point.run


def _has_interval(point: TrendPoint) -> bool:
    """True if the run has one launch or enough for an interval; others only have a range."""
    return point.launches == 1 or point.launches >= LEAST_FOR_INTERVAL


def _in_unit(value: Estimate, unit: str) -> str:
    if unit == "s":
        return duration(value.value)
    return f"{number(value.value, value.error)} {unit}".rstrip()
