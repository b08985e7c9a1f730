# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The error that a row will probably have after a number of launches. Pure.

It is 1.96 standard errors of the median of so many launches. Six launches show their own scatter
badly: half of it and twice as much are both common. The earlier runs of the machine show it better:

1. The usual scatter of a cell is the weighted median over its earlier runs, or over those of its
   kind where the cell is new.
2. Where this run scatters more than usual, over all rows of the kind (root mean square, with four
   usual rows added), the usual scatter is multiplied by that ratio.
3. The row's own launches count as one run of the cell beside four usual ones.

With fewer than LEAST_RUNS earlier runs of the kind only the row's own launches count.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from mpigauge.model.between import LEAST_RUNS, MOST_RUNS, cell_name
from mpigauge.model.grouping import grouped
from mpigauge.result.stats.history import kind_of, weight_of
from mpigauge.result.stats.launches import expected_error
from mpigauge.result.stats.order import ENDS, weighted_median

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.model.between import KnownCell, Remembered
    from mpigauge.model.row import Row

_FEWEST_LAUNCHES = 4
"""Earlier runs with fewer launches of a cell do not count: they may agree by chance."""
_COUNTS_AS = 4
"""The weight of the usual scatter, in rows of a kind or runs of a cell; this run has 1 each."""
_MOST_RATIO = 5.0
"""A row that scatters more than so many times as usual shows no more about the others."""


class ExpectedErrors:
    """The expected errors of the rows of one run."""

    def __init__(
        self, rows: Sequence[Row], widening: float, earlier: Sequence[Remembered], conditions: str
    ) -> None:
        """`rows` are all rows of the run; `widening` is the factor by which the correlation of its
        launches widens an interval; `earlier` are the earlier runs, oldest first."""
        self._widening = widening
        self._usual = _usual_errors(rows, earlier, conditions)
        self._factors = self._factors_of_kinds(rows)

    def of(self, row: Row, launches: int) -> float:
        """The relative half width of the interval of so many launches; NaN: nothing is known."""
        own = expected_error(row.values_s, launches, self._widening)
        usual = self._usual.get(cell_name(row.key))
        if usual is None:
            return own
        from_history = self._factors[kind_of(row.cell)] * usual / math.sqrt(launches)
        if math.isnan(own):
            return from_history
        return math.sqrt((_COUNTS_AS * from_history**2 + own**2) / (_COUNTS_AS + 1))

    def is_from_history(self, row: Row) -> bool:
        return cell_name(row.key) in self._usual

    def _factors_of_kinds(self, rows: Sequence[Row]) -> dict[str, float]:
        """Returns the scatter of this run relative to earlier ones, by kind; at least 1."""
        factors = {}
        for kind, alike in grouped(rows, lambda row: kind_of(row.cell)).items():
            squares = [1.0] * _COUNTS_AS
            for row in alike:
                own = expected_error(row.values_s, 1, self._widening)
                usual = self._usual.get(cell_name(row.key), 0.0)
                if usual > 0 and not math.isnan(own):
                    squares.append(min(own / usual, _MOST_RATIO) ** 2)
            factors[kind] = max(1.0, math.sqrt(sum(squares) / len(squares)))
        return factors


def _usual_errors(
    rows: Iterable[Row], earlier: Sequence[Remembered], conditions: str
) -> dict[str, float]:
    """The relative half width of the interval of one launch, by cell, from earlier runs."""
    cells: dict[str, _Shown] = defaultdict(_Shown)
    kinds: dict[str, _Shown] = defaultdict(_Shown)
    for age, run in enumerate(reversed(earlier[-MOST_RUNS:])):
        for name, cell in run.cells.items():
            if cell.launches < _FEWEST_LAUNCHES:
                continue
            kinds[cell.kind].add(age, cell)
            if run.conditions == conditions:
                cells[name].add(age, cell)
    usual = {}
    for row in rows:
        name = cell_name(row.key)
        for shown in (cells.get(name), kinds.get(kind_of(row.cell))):
            if shown and shown.is_enough:
                usual[name] = shown.error
                break
    return usual


class _Shown:
    """The errors of single launches that earlier runs showed, of a cell or of a kind of cells."""

    def __init__(self) -> None:
        self._errors: list[float] = []
        self._weights: list[float] = []
        self._ages: set[int] = set()

    def add(self, age: int, cell: KnownCell) -> None:
        self._errors.append(ENDS * cell.error * math.sqrt(cell.launches))
        self._weights.append(weight_of(age))
        self._ages.add(age)

    @property
    def is_enough(self) -> bool:
        return len(self._ages) >= LEAST_RUNS

    @property
    def error(self) -> float:
        return weighted_median(self._errors, self._weights)
