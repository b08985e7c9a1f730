# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One number that was measured again and again: what changed around it, and where it stepped.

What is compared are runs, not launches: from one night to the next a machine differs by more than
its launches within a night do. So a step is told by six runs on either side
(result/stats/shifts.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from mpigauge.model.units import first_few, number, percent
from mpigauge.result.compare.items import word_of
from mpigauge.result.stats.order import median
from mpigauge.result.stats.shifts import LEAST_BESIDE, Shift, Shifts, at_places, shifts
from mpigauge.result.stats.verdicts import TOLERANCE

if TYPE_CHECKING:
    from mpigauge.model.row import Estimate

Fact = str | tuple[str, ...]
NEAR = 2
"""A step is found within so many runs of where it was."""


@dataclass(frozen=True)
class TrendPoint:
    """The number as one run measured it."""

    run: str
    time: datetime
    """When the run began, UTC."""
    value: Estimate
    launches: int
    facts: Mapping[str, Fact]
    """What may change and move the number, by name; what is not known is empty or not there."""
    flags: tuple[str, ...] = ()
    wrong_count: int = 0


@dataclass(frozen=True)
class FactChange:
    """What is otherwise from this run on."""

    place: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class Trend:
    points: tuple[TrendPoint, ...]
    """In the order of time, those with a positive value and right data."""
    kind: str
    """time, or of a figure what is better: lower, higher or empty."""
    changes: tuple[FactChange, ...]
    at_changes: tuple[Shift, ...]
    """What became of the number at each of them."""
    shifts: Shifts

    @property
    def steps(self) -> tuple[Shift, ...]:
        return self.shifts.found

    @property
    def places(self) -> tuple[int, ...]:
        """The first point behind each step."""
        return tuple(step.place for step in self.steps)

    @property
    def verdict(self) -> str:
        """The verdict of the last step: FASTER, SLOWER, …; without one SAME or UNDECIDED."""
        if self.steps:
            return self.word(self.steps[-1])
        return self.shifts.said

    def word(self, shift: Shift) -> str:
        return word_of(self.kind, shift.judged.said)

    @property
    def sentence(self) -> str:
        """The verdict with its reason."""
        if not self.steps:
            return _why_no_step(self)
        return "; ".join(_step(self, step) for step in self.steps) + "."

    def near(self, step: Shift) -> list[int]:
        """The numbers of the changes, from 1, that may belong to this step."""
        numbered = enumerate(self.changes, 1)
        return [number for number, each in numbered if abs(each.place - step.place) <= NEAR]


def trend(points: Sequence[TrendPoint], kind: str) -> Trend:
    """The trend of runs in any order."""
    known = sorted(filter(_counts, points), key=lambda point: (point.time, point.run))
    values = [point.value.value for point in known]
    error = _usual_error(known)
    changes = tuple(_changes(known))
    at_changes = at_places(values, [each.place for each in changes], error)
    found = shifts(values, error)
    return Trend(tuple(known), kind, changes, tuple(at_changes), found)


def _why_no_step(of: Trend) -> str:
    runs = len(of.points)
    if runs < 2 * LEAST_BESIDE:
        return (
            f"UNDECIDED: {runs} runs, and at least {2 * LEAST_BESIDE} are needed to tell a step, "
            f"{LEAST_BESIDE} before it and {LEAST_BESIDE} behind it."
        )
    if of.shifts.said == "SAME":
        return f"SAME: no step of more than {percent(TOLERANCE)} in {runs} runs."
    if not math.isfinite(of.shifts.visible):
        return f"UNDECIDED: no error is known of these {runs} runs, so no step can be told."
    return (
        f"UNDECIDED: no step is found in {runs} runs, but they scatter so much that one of less "
        f"than about {percent(of.shifts.visible)} would not be seen."
    )


def _step(of: Trend, step: Shift) -> str:
    point = of.points[step.place]
    found = step.ratio.estimate
    value, low, high = (number(each, found.error) for each in found)
    ratio = f"{value} times ({low}–{high}) what it was before"
    return f"{of.word(step)} since {point.time:%Y-%m-%d} ({point.run}): {ratio}"


def _counts(point: TrendPoint) -> bool:
    """The number of a run whose data arrived wrong means nothing."""
    return math.isfinite(point.value.value) and point.value.value > 0 and not point.wrong_count


def _usual_error(points: Sequence[TrendPoint]) -> float:
    """What the interval of a run has to each side, as a share; 0: not known."""
    known = []
    for point in points:
        low, high = point.value.low, point.value.high
        if 0 < low <= high:
            known.append(math.log(high / low) / 2)
    if known:
        return median(known)
    return 0.0


def _changes(points: Sequence[TrendPoint]) -> Iterator[FactChange]:
    """Against what was known last: that a run does not say something is not a change."""
    last: dict[str, Fact] = {}
    for place, point in enumerate(points):
        told = {name: fact for name, fact in point.facts.items() if fact}
        words = []
        for name, fact in told.items():
            if last.get(name, fact) != fact:
                words.append(f"{name}: {_between(last[name], fact)}")
        last |= told
        if words:
            yield FactChange(place, tuple(words))


def _between(before: Fact, after: Fact) -> str:
    """Of lists only what is not in both."""
    return f"{_named(_only(before, after))} → {_named(_only(after, before))}"


def _only(one: Fact, other: Fact) -> list[str]:
    """What the first has and the other has not."""
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
