# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Whether the machine changed while a run was measured: all cells, in the order of launches.

A launch has an effect: the median, over its cells, of the logarithm of their values by the cell's
median over all launches. Where the effects before some launch and from it on differ by more than
launches do among each other, the machine is another one from there. Each place with at least three
launches on either side is looked at; how often chance alone makes the clearest of them as clear is
asked of the same effects in other orders (a permutation test, with fixed seeds), so it does not
matter how launches scatter. A change is claimed where that is rarer than 1 in 100, and the two
sides differ by at least 5 %.

Launches on one side of a change are still alike, so the run says what each side knows.
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
"""With fewer no order is rare enough."""
LEAST_CHANGE = 0.05
_RARE = 0.01
_ORDERS = 400


@dataclass(frozen=True)
class Change:
    launch: int
    """The number of the first launch behind it."""
    before: int
    """Launches before it."""
    after: int
    ratio: float
    """How many times as long calls take behind it, in the median over cells."""
    cells: int
    error_before: float
    """What the launches before it know, as ± in the median over cells; NaN: they are too few."""
    error_after: float


def change(rows: Iterable[Row]) -> Change | None:
    """The clearest one; None: nothing says that there was one."""
    found = [row for row in rows if _tells(row)]
    effects = _effects(found)
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
        len(found),
        _error(found, lambda number: number < first),
        _error(found, lambda number: number >= first),
    )


def _tells(row: Row) -> bool:
    """Tables of others come from files in any order, and from any machines."""
    several = row.launches > 1 and row.cell.origin == "measured"
    return several and all(value > 0 for value in row.values_s)


def _effects(rows: Sequence[Row]) -> dict[int, float]:
    """Of each launch, by its number."""
    apart: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        middle = math.log(median(row.values_s))
        for number, value in zip(row.numbers, row.values_s, strict=True):
            apart[number].append(math.log(value) - middle)
    return {number: median(of) for number, of in apart.items()}


def _clearest(series: Sequence[float]) -> tuple[int, float]:
    """Where the two sides differ most, for their lengths, and by how much."""
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
