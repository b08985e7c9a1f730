# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Detects steps in the level of a series of values, one for each run in the order of time.

Every place is tested with the 6, 12, 24, … values on either side of it, and with all: the
difference of the means of logarithms before and after it, by Student's t. The p-values are
corrected over all tests by Holm. A step is claimed where the test is clearest among those that
`judge` calls MORE or LESS; then both sides are searched alike (binary segmentation, A. J. Scott,
M. Knott, Biometrics 30 (1974) 507).

Three things would make that claim steps where there are none, and are met:

- Six values in a row may agree by chance, which Welch's t takes for a side without scatter. So the
  scatter of both sides is pooled.
- All twelve may. So the scatter is never taken for less than what neighbours differ by in the whole
  series, without the largest sixth of these differences, which may be steps (variance of normal
  values from differences: J. von Neumann, Annals of Mathematical Statistics 12 (1941) 367).
- Runs that follow each other are alike, for what disturbs lasts longer than a night. So the
  variance is taken (1 + r) / (1 - r) times, with the correlation r of neighbours (M. S. Bartlett,
  Journal of the Royal Statistical Society 98 (1935) 536), which is raised by 3 / n, as it comes
  out too small in short series.

docs/explain/trend.md has how often it is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from mpigauge.model.units import many
from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL
from mpigauge.result.stats.ratio import ENDS, Ratio
from mpigauge.result.stats.verdicts import ALPHA, MOST_LAUNCHES, TOLERANCE, Judged, judge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    _Array = NDArray[np.float64]

LEAST_BESIDE = LEAST_FOR_INTERVAL
"""The fewest values before a step and after it."""
_TOO_SMALL = 3.0
_MOST_ALIKE = 0.95
_LEAST = 3
"""The fewest values with a scatter in addition to two levels."""
_NOTHING = 1e-12
"""Values that scatter by less are the same."""


@dataclass(frozen=True)
class Shift:
    """A step, or a given place, with its judgement."""

    place: int
    """The index of the first value after it."""
    ratio: Ratio
    """The ratio of the level after it to that before."""
    judged: Judged

    @property
    def undecided(self) -> str:
        """The reason why it is undecided, and what would decide it; empty: it is decided."""
        if self.judged.verdict != "UNDECIDED":
            return ""
        if self.ratio.launches < LEAST_BESIDE:
            return f"{many(self.ratio.launches, 'run')} on one side, {LEAST_BESIDE} are needed"
        if not self.ratio.error > 0:
            return "no error is known"
        if self.judged.needed is None:
            return f"more than {MOST_LAUNCHES} runs on each side would be needed"
        return f"about {self.judged.needed} runs on each side would decide"


@dataclass(frozen=True)
class Shifts:
    steps: tuple[Shift, ...]
    """Steps, in the order of time; each is between its neighbours or the ends."""
    verdict: Literal["STEP", "SAME", "UNDECIDED"]
    """SAME: no place of the series can have a step beyond the tolerance."""
    visible: float = math.nan
    """About how large a step in the middle has to be, as a share, to be seen; NaN: none would."""


def shifts(values: Sequence[float], own_error: float, tolerance: float = TOLERANCE) -> Shifts:
    """Finds all steps in these positive values. `own_error`: half the relative width of the
    interval of one; 0: unknown."""
    series = _Series.of(values, own_error)
    if series.least < _NOTHING:
        return Shifts((), "UNDECIDED")
    places = sorted(_search(series, 0, len(values), tolerance))
    steps = series.judged(places, tolerance)
    while kept := [each.place for each in steps if each.judged.verdict in ("MORE", "LESS")]:
        if len(kept) == len(steps):
            return Shifts(tuple(steps), "STEP")
        steps = series.judged(kept, tolerance)
    return _without_step(_tests(series, 0, len(values)), tolerance)


def at_places(
    values: Sequence[float],
    places: Sequence[int],
    own_error: float,
    tolerance: float = TOLERANCE,
) -> list[Shift]:
    """The level behind each of these places, up to the next, to that before it."""
    return _Series.of(values, own_error).judged(places, tolerance)


@dataclass(frozen=True)
class _Series:
    logs: _Array
    least: float
    """The standard deviation that they have at least."""

    @classmethod
    def of(cls, values: Sequence[float], own_error: float) -> _Series:
        import numpy as np

        logs = np.log(np.asarray(values, dtype=float))
        return cls(logs, max(own_error / ENDS, _between_neighbours(logs.tolist())))

    def judged(self, places: Sequence[int], tolerance: float) -> list[Shift]:
        """Each place, between its neighbours or the ends."""
        ends = (0, *places, len(self.logs))
        ratios = [self.ratio(*three) for three in zip(ends, ends[1:], ends[2:], strict=False)]
        judged = judge(ratios, tolerance)
        return [Shift(*each) for each in zip(places, ratios, judged, strict=True)]

    def ratio(self, start: int, middle: int, end: int) -> Ratio:
        """Returns the level from `middle` to `end` relative to that from `start` to `middle`."""
        one, two = self.logs[start:middle], self.logs[middle:end]
        count, few = len(one) + len(two), min(len(one), len(two))
        if few < 1 or count < _LEAST:
            return Ratio(math.nan, math.nan, math.nan, few)
        first, second = float(one.sum()) / len(one), float(two.sum()) / len(two)
        rest = self.logs[start:end] - first
        rest[len(one) :] -= second - first
        squares = float(rest @ rest)
        alike = float(rest[:-1] @ rest[1:]) / squares if squares > 0 else 0.0
        alike = min(max(alike + _TOO_SMALL / count, 0.0), _MOST_ALIKE)
        longer = (1 + alike) / (1 - alike)
        deviation = max(math.sqrt(squares / (count - 2)), self.least)
        error = deviation * math.sqrt(longer * (1 / len(one) + 1 / len(two)))
        return Ratio(second - first, error, max((count - 2) / longer, 1.0), few)


def _search(series: _Series, start: int, end: int, tolerance: float) -> Iterator[int]:
    """Places of steps, found by halves: the clearest one, then those on either side of it."""
    tests = _tests(series, start, end)
    judged = judge([ratio for _, ratio in tests], tolerance)
    claimed = []
    for (place, ratio), each in zip(tests, judged, strict=True):
        if each.verdict in ("MORE", "LESS"):
            claimed.append((-each.p, abs(ratio.log) / ratio.error, place))
    if claimed:
        place = max(claimed)[-1]
        yield from _search(series, start, place, tolerance)
        yield place
        yield from _search(series, place, end, tolerance)


def _tests(series: _Series, start: int, end: int) -> list[tuple[int, Ratio]]:
    """Each place with each width that there is room for."""
    tests = []
    for place in range(start + LEAST_BESIDE, end - LEAST_BESIDE + 1):
        for wide in _widths(max(place - start, end - place)):
            ratio = series.ratio(max(start, place - wide), place, min(place + wide, end))
            tests.append((place, ratio))
    return tests


def _widths(most: int) -> Iterator[int]:
    wide = LEAST_BESIDE
    while wide < most:
        yield wide
        wide *= 2
    yield most


def _without_step(tests: Sequence[tuple[int, Ratio]], tolerance: float) -> Shifts:
    """Returns SAME if no place can have a step, by its most exact test; else UNDECIDED."""
    exact: dict[int, Ratio] = {}
    for place, ratio in tests:
        if place not in exact or ratio.error < exact[place].error:
            exact[place] = ratio
    if not exact:
        return Shifts((), "UNDECIDED")
    same = all(each.verdict == "SAME" for each in judge(list(exact.values()), tolerance))
    middle = list(exact.values())[len(exact) // 2]
    visible = math.expm1(middle.half_width(ALPHA / len(tests)))
    return Shifts((), "SAME" if same else "UNDECIDED", visible)


def _between_neighbours(logs: Sequence[float]) -> float:
    """Returns the standard deviation estimated from differences of neighbours."""
    squares = sorted((b - a) ** 2 for a, b in pairwise(logs))
    kept = squares[: len(squares) - len(squares) // LEAST_BESIDE]
    if not kept:
        return 0.0
    return math.sqrt(math.fsum(kept) / (2 * len(kept)))
