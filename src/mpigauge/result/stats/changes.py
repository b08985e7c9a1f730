# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Detects a change of the machine during a run, from all cells in the order of launches.

A launch has an effect: the median, over its cells, of the logarithm of their values relative to the
cell's median over all launches. If the effects before some launch and from it on differ by more
than launches do among each other, the machine changed there. Each place with at least three
launches on either side is tested. The same effects in random orders show how often chance alone
makes the largest difference as large (a permutation test with fixed seeds), so no distribution of
launches is assumed. A change is reported if that is rarer than 1 in 100 and the two sides differ by
at least 5 %.

Launches on one side of a change are still alike, so the error of each side is reported, too.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL, hull
from mpigauge.result.stats.order import median

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mpigauge.model.row import Row

LEAST_BESIDE = 3
LEAST_LAUNCHES = 8
"""The fewest launches among whose orders one can be rare enough."""
LEAST_CHANGE = 0.05
_RARE = 0.01
_ORDERS = 400


@dataclass(frozen=True)
class Change:
    launch: int
    """The number of the first launch after the change."""
    before: int
    """Launches before the change."""
    after: int
    ratio: float
    """Time of calls after the change relative to before, in the median over cells."""
    cells: int
    error_before: float
    """The relative error of the launches before it, in the median over cells; NaN: too few."""
    error_after: float


def change(rows: Iterable[Row]) -> Change | None:
    """Returns the clearest change of the machine; None: there is no evidence of one."""
    usable = [row for row in rows if _tells(row)]
    effects = _effects(usable)
    if len(effects) < LEAST_LAUNCHES:
        return None
    launches = sorted(effects)
    series = [effects[launch] for launch in launches]
    place, clear = _clearest(series)
    if clear == 0 or not _is_rare(series, clear):
        return None
    moved = median(series[place:]) - median(series[:place])
    if abs(math.expm1(moved)) < LEAST_CHANGE:
        return None
    first = launches[place]
    return Change(
        first,
        place,
        len(series) - place,
        math.exp(moved),
        len(usable),
        _error(usable, lambda number: number < first),
        _error(usable, lambda number: number >= first),
    )


def _tells(row: Row) -> bool:
    """Tables of others come from files in any order, and from any machines."""
    several = row.launches > 1 and row.cell.origin == "measured"
    return several and all(value > 0 for value in row.values_s)


def _effects(rows: Sequence[Row]) -> dict[int, float]:
    """Returns the effect of each launch, by its number."""
    apart: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        middle = math.log(median(row.values_s))
        for number, value in zip(row.numbers, row.values_s, strict=True):
            apart[number].append(math.log(value) - middle)
    return {number: median(of) for number, of in apart.items()}


def _clearest(series: Sequence[float]) -> tuple[int, float]:
    """Returns the place where both sides differ most, given their lengths, and the difference."""
    count, total, sum_before = len(series), math.fsum(series), 0.0
    best, most = 0, 0.0
    for place in range(1, count - LEAST_BESIDE + 1):
        sum_before += series[place - 1]
        if place < LEAST_BESIDE:
            continue
        apart = (total - sum_before) / (count - place) - sum_before / place
        clear = abs(apart) * math.sqrt(place * (count - place) / count)
        if clear > most:
            best, most = place, clear
    return best, most


def _is_rare(series: Sequence[float], clear: float) -> bool:
    random, shuffled, as_clear = Random(1), list(series), 0
    for _ in range(_ORDERS):
        random.shuffle(shuffled)
        as_clear += _clearest(shuffled)[1] >= clear * (1 - 1e-9)
        if as_clear > _RARE * _ORDERS:
            return False
    return True


def _error(rows: Sequence[Row], of: Callable[[int], bool]) -> float:
    """± of these launches alone, in the median over the cells that have enough of them."""
    errors = []
    for row in rows:
        values = []
        for number, v in zip(row.numbers, row.values_s, strict=True):
            if of(number):
                values.append(v)
        if len(values) >= LEAST_FOR_INTERVAL:
            low, high = hull(values, values, values)
            middle = median(values)
            errors.append(max(high - middle, middle - low) / middle)
    if errors:
        return median(errors)
    return math.nan
