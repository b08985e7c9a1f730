# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The interval of a run's number for its machine, from earlier runs of the machine. Pure.

Six launches in a row share a minute. On recorded machines the medians of whole runs scatter by as
much as their launches do, so one run alone cannot show how far its number holds. Earlier runs can.
All of this is on logarithms.

1. Each earlier run left the value of each of its cells, and the standard error of that value from
   its launches. Older runs count less: half as much after eight more.
2. The distances of these values from their (weighted) median have a standard deviation, for each
   cell, and for all cells of a kind together (small, large, collective …), since the states of a
   machine move many cells alike. A distance counts for no more than 2.5 times what is usual, for a
   run in ten is far off. The cell's own is shrunk to that of its kind as if that were four runs.
3. That scatter already holds the own error that the earlier runs had. So theirs is taken out and
   this run's is put in: sd² = scatter² - theirs² + its own². It is never less than its own.
4. The interval for this machine goes 1.96 sd to each side, and reaches to where the cell's earlier
   runs were: over their median and 1.5 times its standard error. So a run in an unusual state is
   shown with the distance that it has from the usual one, and is said to be outside.

With fewer than five earlier runs that tell of the kind the starting value stands for the scatter:
10 %, or more where all that is known of the machine shows more. Streams over memory say nothing of
messages. What it reaches on recorded launches is in tests/replay/test_history_replay.py.

The correlation of launches that follow each other, by which the interval of the run itself is
widened, is estimated over all cells of the run together, raised by 1/launches as it comes out too
small in short series, and shrunk: to the earlier runs, and to 0.2 as if that were two runs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.between import (
    LEAST_LAUNCHES,
    LEAST_RUNS,
    MOST_RUNS,
    Between,
    KnownCell,
    Remembered,
    Scatter,
    cell_name,
)
from mpigauge.model.grouping import grouped
from mpigauge.result.stats.order import ENDS, MAD, OF_MEDIAN, median, weighted_median

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.model.columns import Cell
    from mpigauge.model.row import Row

STARTING_SD = 0.10
"""The scatter between runs of a machine that is not known yet."""
_HALF_AFTER = 8.0
"""Runs after which an earlier one counts half as much."""
_ENDS_OF_MIDDLE = 1.5
_MOST_SCATTERS = 2.5
_KIND_COUNTS_AS = 4.0
_LEAST_SHARE = 0.1
"""The least share of the squared scatter that remains without the earlier runs' own error."""
_LEAST_OF_CELL = 3
"""The fewest earlier runs for a middle."""
_FEW = 5
"""Fewer launches than these may agree by chance more closely than their error."""
_OUTSIDE = 3.0
"""Standard deviations."""
_STARTING_CORRELATION, _STARTING_COUNTS_AS = 0.2, 2.0
_MOST_ALIKE = 0.8
_FEWEST_THAT_CORRELATE = 4
SMALL_BYTES = 16 * 1024
"""Up to here messages are small."""


def kind_of(cell: Cell) -> str:
    """Cells that a state of the machine moves alike."""
    if cell.suite == "NODE":
        return "node"
    if cell.sync not in ("none", ""):
        return "collective"
    if cell.message_bytes <= SMALL_BYTES:
        return "small"
    return "large"


def weight_of(age: int) -> float:
    """The weight of an earlier run after which `age` others were made."""
    return float(0.5 ** (age / _HALF_AFTER))


def remember(
    rows: Iterable[Row],
    earlier: Sequence[Remembered],
    conditions: str = "",
    when: str = "",
    name: str = "",
) -> Remembered:
    """Returns the record of this run for later ones: cells of enough launches, no wrong data."""
    rows = [row for row in rows if row.launches >= LEAST_LAUNCHES and not row.wrong_count]
    return _seen(rows, earlier, conditions, when, name)


def _seen(
    rows: Iterable[Row],
    earlier: Sequence[Remembered],
    conditions: str,
    when: str = "",
    name: str = "",
) -> Remembered:
    """A run as its rows show it; of cells with a time that is not positive nothing is kept."""
    positive, series = [], []
    for row in rows:
        if all(value > 0 for value in row.values_s):
            positive.append(row)
            series.append(row.values_s)
    own = correlation_of(series)
    measured = [row for row in positive if _is_ours(row.cell)]
    errors = _own_errors(measured, shrunk(own, earlier))
    cells = {}
    for row, error in zip(measured, errors, strict=True):
        log = math.log(row.cell.time_p50_s)
        cells[cell_name(row.key)] = KnownCell(kind_of(row.cell), log, error, row.launches)
    return Remembered(when, name, conditions, own, cells)


def _is_ours(cell: Cell) -> bool:
    """IMB's schedule gives means of one loop, and what is imported was measured elsewhere."""
    return cell.origin == "measured" and cell.mode == "adaptive"


def between(rows: Sequence[Row], earlier: Sequence[Remembered], conditions: str = "") -> Between:
    """Computes the scatter between runs for all rows of a run, from earlier runs, oldest first."""
    earlier = earlier[-MOST_RUNS:]
    now = _seen(rows, earlier, conditions)
    past = _Past(earlier, conditions)
    cells = {}
    for name, cell in now.cells.items():
        scatter = _scatter(name, cell, past)
        if scatter:
            cells[name] = scatter
    return Between(len(earlier), shrunk(now.correlation, earlier), cells)


# --- between runs -----------------------------------------------------------------------------
class _Series(NamedTuple):
    """The values of a cell in earlier runs; everything is of their logarithms."""

    middle: float
    """The weighted median of the values."""
    distances: list[float]
    """Distances of the values from the middle, widened as if it were not estimated from them."""
    weights: list[float]
    errors: list[float]
    """The standard error of each value, as its own run estimated it."""
    launch_sds: list[float]
    """The standard deviation of a single launch, which follows from that error."""
    runs: frozenset[int]
    """The numbers of the runs."""

    @property
    def worth(self) -> float:
        """The effective number of runs of equal weight (Kish's effective size)."""
        return sum(self.weights) ** 2 / sum(weight * weight for weight in self.weights)


class _Past:
    """The earlier runs of a machine, cell by cell."""

    def __init__(self, earlier: Sequence[Remembered], conditions: str) -> None:
        self._conditions = conditions
        values: dict[tuple[str, str], list[_Value]] = defaultdict(list)
        for number, run in enumerate(earlier):
            weight = weight_of(len(earlier) - 1 - number)
            for name, cell in run.cells.items():
                values[run.conditions, name].append(_Value(number, weight, cell))
        self._counts: dict[tuple[str, str], int] = {}
        self._cells: dict[tuple[str, str], _Series] = {}
        kinds: dict[str, list[_Series]] = defaultdict(list)
        for which, of in values.items():
            self._counts[which] = len(of)
            if len(of) >= _LEAST_OF_CELL:
                self._cells[which] = _series(of)
                kinds[of[0].cell.kind].append(self._cells[which])
        self._kinds: dict[str, _Pool] = {}
        everything: list[_Series] = []
        for kind, series in kinds.items():
            self._kinds[kind] = _Pool(series)
            everything += series
        self._all = _Pool(everything)
        """The scatter of all cells of the machine together."""

    def cell(self, name: str) -> _Series | None:
        return self._cells.get((self._conditions, name))

    def few(self, name: str) -> int:
        """Earlier runs that have this cell, where the machine is not known yet."""
        return min(self._counts.get((self._conditions, name), 0), LEAST_RUNS - 1)

    def pool(self, kind: str) -> _Pool:
        return self._kinds.get(kind) or _Pool(())

    @property
    def starting_sd(self) -> float:
        """The scatter of a kind that is not known yet."""
        return max(STARTING_SD, self._all.sd)


class _Pool:
    """The scatter of all cells of one kind together."""

    def __init__(self, series: Sequence[_Series]) -> None:
        runs: set[int] = set()
        distances: list[float] = []
        weights: list[float] = []
        errors: list[float] = []
        launch_sds: list[float] = []
        for each in series:
            runs |= each.runs
            distances += each.distances
            weights += each.weights
            errors += each.errors
            launch_sds += each.launch_sds
        self.runs = len(runs)
        far = _MOST_SCATTERS if self.runs >= LEAST_RUNS else math.inf
        self.sd = _scale(distances, weights, far)
        """The scatter between runs. Outliers are only limited with enough runs to identify them."""
        self.error = weighted_median(errors, weights)
        self.launch_sd = weighted_median(launch_sds, weights)


class _Value(NamedTuple):
    """The record of a cell in one earlier run."""

    run: int
    weight: float
    cell: KnownCell


def _series(values: Sequence[_Value]) -> _Series:
    weights, logs, errors, launch_sds, runs = [], [], [], [], set()
    for value in values:
        weights.append(value.weight)
        logs.append(value.cell.log)
        errors.append(value.cell.error)
        launch_sds.append(value.cell.error * math.sqrt(value.cell.launches))
        runs.add(value.run)
    middle = weighted_median(logs, weights)
    longer = math.sqrt(len(values) / (len(values) - 1))
    distances = [(log - middle) * longer for log in logs]
    return _Series(middle, distances, weights, errors, launch_sds, frozenset(runs))


def _scatter(name: str, current: KnownCell, past: _Past) -> Scatter | None:
    pool, cell = past.pool(current.kind), past.cell(name)
    if pool.runs < LEAST_RUNS:
        if current.launches < LEAST_LAUNCHES:
            return None
        sd = math.hypot(past.starting_sd, current.error)
        return Scatter(sd, -ENDS * sd, ENDS * sd, max(pool.runs, past.few(name)))
    scatter = _shrunk_scale(cell, pool)
    own = current.error
    if current.launches < _FEW:  # they may agree by chance
        own = max(own, pool.launch_sd / math.sqrt(current.launches))
    state = max(scatter**2 - pool.error**2, _LEAST_SHARE * scatter**2)
    sd = math.sqrt(state + own**2)
    low, high = -ENDS * sd, ENDS * sd
    if cell is None:
        return Scatter(sd, low, high, pool.runs)
    away = cell.middle - current.log
    error = scatter * OF_MEDIAN / math.sqrt(cell.worth)
    reach = _ENDS_OF_MIDDLE * error
    return Scatter(
        sd,
        min(low, away - reach),
        max(high, away + reach),
        pool.runs,
        math.exp(cell.middle),
        len(cell.distances) >= LEAST_RUNS and abs(away) > _OUTSIDE * math.hypot(sd, error),
    )


def _shrunk_scale(cell: _Series | None, pool: _Pool) -> float:
    """Returns the scatter of the cell, shrunk to that of its kind; few runs: that of the kind."""
    if cell is None or len(cell.distances) <= _LEAST_OF_CELL:
        return pool.sd
    weight = sum(cell.weights)
    own = _scale(cell.distances, cell.weights)
    return math.sqrt((weight * own**2 + _KIND_COUNTS_AS * pool.sd**2) / (weight + _KIND_COUNTS_AS))


def _scale(
    distances: Sequence[float], weights: Sequence[float], far: float = _MOST_SCATTERS
) -> float:
    """Root mean square, where none counts for more than so many times the usual one."""
    if not distances:
        return 0.0
    sizes = [abs(distance) for distance in distances]
    most = far * max(MAD * weighted_median(sizes, weights), 1e-4)
    squares = []
    for size, weight in zip(sizes, weights, strict=True):
        squares.append(weight * min(size, most) ** 2)
    return math.sqrt(sum(squares) / sum(weights))


# --- between launches ---------------------------------------------------------------------------
def correlation_of(series: Iterable[Sequence[float]]) -> float:
    """The correlation of neighbours, over all cells of a run together: each a series of its
    launches' values. 0 where no series is long enough."""
    together, alone = 0.0, 0.0
    counts = []
    for values in series:
        count = len(values)
        if count < _FEWEST_THAT_CORRELATE:
            continue
        steps = _standard(values)
        together += sum(a * b for a, b in pairwise(steps)) * count / (count - 1)
        alone += sum(step * step for step in steps)
        counts.append(count)
    if alone <= 0:
        return 0.0
    return together / alone + len(counts) / sum(counts)


def _standard(values: Sequence[float]) -> list[float]:
    """Distances from their middle in standard deviations, none of which outweighs the others."""
    distances = _distances(values)
    sizes = [abs(distance) for distance in distances]
    usual = MAD * median(sizes) or 1e-9
    steps = []
    for distance in distances:
        steps.append(min(max(distance / usual, -_MOST_SCATTERS), _MOST_SCATTERS))
    mean = sum(steps) / len(steps)
    return [step - mean for step in steps]


def shrunk(own: float, earlier: Sequence[Remembered]) -> float:
    """The correlation to reckon with, where a run shows its own and these were before it."""
    together, weights = own + _STARTING_CORRELATION * _STARTING_COUNTS_AS, 1 + _STARTING_COUNTS_AS
    for age, run in enumerate(reversed(earlier[-MOST_RUNS:])):
        weight = weight_of(age)
        together += weight * run.correlation
        weights += weight
    return min(max(together / weights, 0.0), _MOST_ALIKE)


def _own_errors(rows: Sequence[Row], alike: float) -> list[float]:
    """Returns the standard errors of the values, estimated half from launches of the cell itself
    and half from those of all cells of its kind; 0 of one launch."""
    several = [row for row in rows if len(row.values_s) > 1]
    pools = {}
    for kind, of in grouped(several, lambda row: kind_of(row.cell)).items():
        pools[kind] = _spread([_distances(row.values_s) for row in of])
    errors = []
    for row in rows:
        if len(row.values_s) > 1:
            own = _spread([_distances(row.values_s)])
            spread = math.hypot(own, pools[kind_of(row.cell)]) / math.sqrt(2)
            errors.append(_error(spread, len(row.values_s), alike))
        else:
            errors.append(0.0)
    return errors


def _spread(series: Sequence[Sequence[float]]) -> float:
    """Robust standard deviation of launches."""
    distances = [abs(d) for of in series for d in of]
    count = len(distances) / len(series)
    return MAD * median(distances) * math.sqrt(count / (count - 1))


@lru_cache
def _error(spread: float, count: int, alike: float) -> float:
    """The standard error of the median of so many launches, of which neighbours are alike."""
    longer = 1 + 2 * sum((1 - lag / count) * alike**lag for lag in range(1, count))
    return OF_MEDIAN * spread * math.sqrt(longer / count)


def _distances(values: Sequence[float]) -> list[float]:
    logs = [math.log(value) for value in values]
    middle = median(logs)
    return [log - middle for log in logs]
