# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""All cells so far, of finished launches and of the running one, and their rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from mpigauge.model.between import Between, Remembered, Scatter
from mpigauge.model.columns import Cell
from mpigauge.model.record import (
    JOB,
    CellRecord,
    Figure,
    Key,
    PairBlock,
    Progress,
    Record,
    known_of_killed,
)
from mpigauge.model.row import Row
from mpigauge.result.stats.expected import ExpectedErrors
from mpigauge.result.stats.figures import figure_rows
from mpigauge.result.stats.history import between, correlation_of, shrunk
from mpigauge.result.stats.launches import (
    DRIFT,
    HOPELESS,
    LEAST_FOR_INTERVAL,
    STEADY,
    aggregate,
    in_order,
)
from mpigauge.result.stats.order import ENDS, median

WORTH_IT = 0.25
"""The least share of the imprecise rows that further launches must make precise to be worth it."""
SHIFT = 1.2
"""Ratio of the times of a launch to earlier ones from which the machine may have changed."""
_NOTICEABLE = 1e-3
"""The change of the widening from which all rows are computed anew."""


@dataclass(frozen=True)
class Outlook:
    """The effect of more launches."""

    keys: frozenset[Key] | None = None
    """The cells that more launches would make precise; None: all cells, since the machine is not
    known or something else is measured with them."""
    stop: str = ""
    """STEADY, DRIFT or HOPELESS: more launches are not worth their time."""


class Results:
    def __init__(
        self,
        precision: float,
        cells: Iterable[Cell] = (),
        benchmarks: Sequence[str] = (),
        earlier: Sequence[Remembered] = (),
        conditions: str = "",
    ) -> None:
        self._precision = precision
        self._benchmarks = benchmarks
        self._cells: dict[Key, dict[int, Cell]] = {}
        self._rows: dict[Key, Row] = {}
        self._figures: list[Figure] = []
        self.blocks: list[PairBlock] = []
        """The pairs of jobs of very many ranks, which have no rows here."""
        self._earlier, self._conditions = earlier, conditions
        self._between = Between(len(earlier), shrunk(0.0, earlier))
        for cell in cells:
            self.put(cell)
        self.settle()

    def settle(self) -> None:
        """Updates the correlation of launches after one has ended."""
        series = []
        for cells in self._cells.values():
            values = [cells[launch].time_p50_s for launch in sorted(cells)]
            if all(value > 0 for value in values):
                series.append(values)
        own = correlation_of(series)
        now = Between(len(self._earlier), shrunk(own, self._earlier))
        if abs(now.widening / self._between.widening - 1) > _NOTICEABLE:
            self._between = now
            self._rows.clear()

    def add(self, record: Record) -> bool:
        """Adds the cell or figure in a record; True if it has one."""
        if isinstance(record, CellRecord):
            self.put(record.cell)
            return True
        if isinstance(record, PairBlock):
            self.blocks.append(record)
            return True
        if isinstance(record, Progress):
            self._put_progress(record)
            return True
        if isinstance(record, Figure):
            if record.benchmark != JOB:  # the job's memory is no result that launches make precise
                self._figures.append(record)
            return True
        return False

    def put(self, cell: Cell) -> None:
        self._cells.setdefault(cell.key, {})[cell.launch] = cell
        self._rows.pop(cell.key, None)

    @property
    def has_numbers(self) -> bool:
        return bool(self._cells or self._figures or self.blocks)

    def rows(self) -> list[Row]:
        """The rows in the order in which the user named the benchmarks."""
        return in_order(map(self._row, self._cells), self._benchmarks)

    def widest(self) -> Row | None:
        """The least precise row, among those that can improve."""
        rows = self.rows()
        improvable = [row for row in rows if _can_improve(row)]
        return max(improvable or rows, key=_width, default=None)

    def converged(self) -> bool:
        """True if every row has an interval over launches that is as narrow as requested."""
        rows, figures = self.rows(), figure_rows(self._figures)
        if not rows and not figures:
            return False
        for figure in figures:
            if not figure.value.relative_error <= self._precision:
                return False
        return all(map(self._is_precise, rows))

    def look_ahead(self, more: int, keys: Collection[Key] | None = None) -> Outlook:
        """The effect of `more` launches on the imprecise rows. `keys` are the cells of the last
        launches, if these were narrowed; other cells get no more launches."""
        if self._figures:
            return Outlook()
        rows = self.rows()
        expected = ExpectedErrors(rows, self._between.widening, self._earlier, self._conditions)
        machine = between(rows, self._earlier, self._conditions)
        gain: set[Key] = set()
        reasons: Counter[str] = Counter()
        left_out: Counter[str] = Counter()
        for row in rows:
            if self._is_precise(row):
                continue
            reason = self._reason_to_stop(row, more, expected, machine)
            if keys is not None and row.key not in keys:
                left_out[reason or STEADY] += 1
            elif reason:
                reasons[reason] += 1
            else:
                gain.add(row.key)
        if not gain or len(gain) < WORTH_IT * (len(gain) + reasons.total()):
            counts = reasons or left_out
            return Outlook(stop=max(counts, key=lambda each: counts[each], default=HOPELESS))
        has_history = any(map(expected.is_from_history, rows))
        return Outlook(frozenset(gain) if has_history else None)

    def _reason_to_stop(
        self, row: Row, more: int, expected: ExpectedErrors, machine: Between
    ) -> str:
        """STEADY, DRIFT or HOPELESS; empty: more launches would make the row precise."""
        if row.launches < LEAST_FOR_INTERVAL:
            return ""
        error = expected.of(row, row.launches)
        if expected.is_from_history(row) and error <= self._precision:
            return STEADY
        if self._is_drift(machine.of(row.key), error):
            return DRIFT
        return HOPELESS if expected.of(row, row.launches + more) > self._precision else ""

    def _is_drift(self, scatter: Scatter | None, error: float) -> bool:
        """True if the machine differs from run to run by more than the precision, and by more than
        the launches of this run leave open: more launches in a row would show the same state."""
        if scatter is None or not scatter.is_known:
            return False
        whole = ENDS * scatter.sd
        return whole > self._precision and 2 * error**2 < whole**2

    def _is_precise(self, row: Row) -> bool:
        narrow = row.relative_error <= self._precision or not _can_improve(row)
        return row.launches >= LEAST_FOR_INTERVAL and narrow

    def has_shifted(self, launch: int) -> bool:
        """True if the median times of a launch differ by SHIFT from those before it."""
        ratios = []
        for cells in self._cells.values():
            before = [cells[number].time_p50_s for number in cells if number < launch]
            if launch in cells and before and min(before) > 0:
                ratios.append(cells[launch].time_p50_s / median(before))
        return bool(ratios) and not 1 / SHIFT <= median(ratios) <= SHIFT

    @property
    def wrong_count(self) -> int:
        return sum(cell.wrong_count for cell in self.cells())

    def cells(self) -> list[Cell]:
        """The cells of all launches."""
        cells: list[Cell] = []
        for by_launch in self._cells.values():
            cells += by_launch.values()
        return cells

    def cells_of(self, launch: int) -> int:
        return sum(launch in cells for cells in self._cells.values())

    def _put_progress(self, progress: Progress) -> None:
        with suppress(ValueError):  # a line that lacks columns says nothing about a cell
            self.put(known_of_killed(progress))

    def _row(self, key: Key) -> Row:
        if key not in self._rows:
            by_launch = self._cells[key]
            cells = [by_launch[launch] for launch in sorted(by_launch)]
            self._rows[key] = aggregate(cells, self._precision, self._between)
        return self._rows[key]


def _can_improve(row: Row) -> bool:
    """False for a row that is as wide as the resolution of the clock: more launches do not narrow
    it."""
    return "clock" not in row.flags


def _width(row: Row) -> float:
    """The relative error; infinite if unknown."""
    error = row.relative_error
    if math.isnan(error):
        return math.inf
    return error
