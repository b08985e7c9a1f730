# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The trend of one number over many runs: its steps, and the facts that changed.

Runs are compared, not launches: a machine differs more from one night to the next than its launches
within a night. So detecting a step takes six runs on either side (products/browse/shifts.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from mpigauge.model.units import first_few, number, percent
from mpigauge.products.browse.shifts import LEAST_BESIDE, Shift, Shifts, at_places, shifts
from mpigauge.result.compare.match.items import word_of
from mpigauge.result.stats.order import median
from mpigauge.result.stats.verdicts import TOLERANCE

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate

Fact = str | tuple[str, ...]
NEAR = 2
"""The maximum distance, in runs, of a detected step from the true one."""


@dataclass(frozen=True)
class TrendPoint:
    """The number as one run measured it."""

    run: str
    time: datetime
    """The start of the run, UTC."""
    value: Estimate
    launches: int
    facts: Mapping[str, Fact]
    """Facts that may influence the number, by name; unknown ones are empty or missing."""
    flags: tuple[str, ...] = ()
    wrong_count: int = 0


@dataclass(frozen=True)
class FactChange:
    """The facts that change at one run."""

    place: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class Trend:
    points: tuple[TrendPoint, ...]
    """The points with a positive value and correct data, in the order of time."""
    kind: str
    """The kind: time, or the better direction of a figure: lower, higher or empty."""
    changes: tuple[FactChange, ...]
    at_changes: tuple[Shift, ...]
    """The shift of the number at each change."""
    shifts: Shifts

    @property
    def steps(self) -> tuple[Shift, ...]:
        return self.shifts.steps

    @property
    def places(self) -> tuple[int, ...]:
        """The index of the first point after each step."""
        return tuple(step.place for step in self.steps)

    @property
    def verdict(self) -> str:
        """The verdict of the last step (FASTER, SLOWER, …); without a step SAME or UNDECIDED."""
        if self.steps:
            return self.word(self.steps[-1])
        return self.shifts.verdict

    def word(self, shift: Shift) -> str:
        return word_of(self.kind, shift.judged.verdict)

    @property
    def sentence(self) -> str:
        """The verdict with its reason."""
        if not self.steps:
            return _why_no_step(self)
        return "; ".join(_step(self, step) for step in self.steps) + "."

    def near(self, step: Shift) -> list[int]:
        """Returns the numbers, from 1, of the changes near this step."""
        numbered = enumerate(self.changes, 1)
        return [number for number, each in numbered if abs(each.place - step.place) <= NEAR]


def trend(points: Sequence[TrendPoint], kind: str) -> Trend:
    """Computes the trend of points given in any order."""
    used = sorted(filter(_counts, points), key=lambda point: (point.time, point.run))
    values = [point.value.value for point in used]
    error = _usual_error(used)
    changes = tuple(_changes(used))
    at_changes = at_places(values, [each.place for each in changes], error)
    steps = shifts(values, error)
    return Trend(tuple(used), kind, changes, tuple(at_changes), steps)


def _why_no_step(of: Trend) -> str:
    runs = len(of.points)
    if runs < 2 * LEAST_BESIDE:
        return (
            f"UNDECIDED: {runs} runs, and at least {2 * LEAST_BESIDE} are needed to detect a step, "
            f"{LEAST_BESIDE} before it and {LEAST_BESIDE} behind it."
        )
    if of.shifts.verdict == "SAME":
        return f"SAME: no step of more than {percent(TOLERANCE)} in {runs} runs."
    if not math.isfinite(of.shifts.visible):
        return f"UNDECIDED: no error is known of these {runs} runs, so no step can be detected."
    return (
        f"UNDECIDED: no step is found in {runs} runs, but they scatter so much that one of less "
        f"than about {percent(of.shifts.visible)} would not be seen."
    )


def _step(of: Trend, step: Shift) -> str:
    point = of.points[step.place]
    estimate = step.ratio.estimate
    value, low, high = (number(each, estimate.error) for each in estimate)
    ratio = f"{value} times ({low}–{high}) what it was before"
    return f"{of.word(step)} since {point.time:%Y-%m-%d} ({point.run}): {ratio}"


def _counts(point: TrendPoint) -> bool:
    """True if the value is finite and positive, and the data were correct."""
    return math.isfinite(point.value.value) and point.value.value > 0 and not point.wrong_count


def _usual_error(points: Sequence[TrendPoint]) -> float:
    """Returns the median half-width of the intervals of runs, relative; 0: unknown."""
    errors = []
    for point in points:
        low, high = point.value.low, point.value.high
        if 0 < low <= high:
            errors.append(math.log(high / low) / 2)
    if errors:
        return median(errors)
    return 0.0


def _changes(points: Sequence[TrendPoint]) -> Iterator[FactChange]:
    """Yields the changes of facts against their last known values; a missing fact is no change."""
    last: dict[str, Fact] = {}
    for place, point in enumerate(points):
        facts = {name: fact for name, fact in point.facts.items() if fact}
        words = []
        for name, fact in facts.items():
            if last.get(name, fact) != fact:
                words.append(f"{name}: {_between(last[name], fact)}")
        last |= facts
        if words:
            yield FactChange(place, tuple(words))


def _between(before: Fact, after: Fact) -> str:
    """Returns a change in words; of lists only the entries that are not in both."""
    return f"{_named(_only(before, after))} → {_named(_only(after, before))}"


def _only(one: Fact, other: Fact) -> list[str]:
    """Returns the entries of the first that the other lacks."""
    there = _listed(other)
    return [each for each in _listed(one) if each not in there]


def _listed(fact: Fact) -> Sequence[str]:
    if isinstance(fact, str):
        return (fact,)
    return fact


def _named(words: Sequence[str]) -> str:
    if not words:
        return "none"
    return first_few(words)
