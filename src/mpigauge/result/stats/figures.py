# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Figures over launches: values other than call times, such as a program's figure of merit."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from mpigauge.model.record import Figure
from mpigauge.model.row import NOTHING, Estimate
from mpigauge.model.units import from_to, plus_minus
from mpigauge.result.stats.launches import LEAST_FOR_INTERVAL, hull
from mpigauge.result.stats.order import median

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.model.row import ErrorKind

Columns = tuple[tuple[str, Any], ...]
_OF_LAUNCHES = ("launch", "value")


@dataclass(frozen=True)
class FigureRow:
    figure: Figure
    """The figure of the first launch; it identifies the row."""
    value: Estimate
    """The median over launches with the ends of its interval, or of the range of few launches."""
    kind: ErrorKind
    values: tuple[float, ...]
    """The value of each launch, in the order of launches."""
    numbers: tuple[int, ...]
    """The numbers of these launches."""

    @property
    def error_words(self) -> str:
        """±2.1 %, or of a few launches where they lie: -1.2…+3.4 %."""
        value, low, high = self.value
        if self.kind == "range" and value:
            return from_to(low / value - 1, high / value - 1)
        return plus_minus(self.value.relative_error)

    @property
    def worst(self) -> float:
        """The worst value of all launches; where neither direction is better, the largest."""
        if self.figure.better == "higher":
            return min(self.values)
        return max(self.values)


def figure_rows(figures: Iterable[Figure]) -> list[FigureRow]:
    """A row for each figure; what a launch holds twice (it was resumed) counts once, the later."""
    by_columns: dict[Columns, dict[int, Figure]] = {}
    for figure in figures:
        by_columns.setdefault(columns_of(figure), {})[figure.launch] = figure
    rows = []
    for by_launch in by_columns.values():
        rows.append(_row([by_launch[launch] for launch in sorted(by_launch)]))
    return rows


def columns_of(figure: Figure) -> Columns:
    """Returns the columns that identify a figure, with their values."""
    names = [f.name for f in fields(Figure) if f.name not in _OF_LAUNCHES]
    return tuple((name, getattr(figure, name)) for name in names)


def estimate(values: Sequence[float]) -> Estimate:
    """An estimate as of rows: an interval from six launches on, then a range, and of one nothing is
    known."""
    if not all(map(math.isfinite, values)):
        return NOTHING
    if len(values) == 1:
        return Estimate(values[0], math.nan, math.nan)
    low, high = min(values), max(values)
    if len(values) >= LEAST_FOR_INTERVAL:
        low, high = hull(values, values, values)
    return Estimate(median(values), low, high)


def _row(figures: Sequence[Figure]) -> FigureRow:
    values = tuple(figure.value for figure in figures)
    kind: ErrorKind = "one launch"
    if len(values) >= LEAST_FOR_INTERVAL:
        kind = "interval"
    elif len(values) > 1:
        kind = "range"
    numbers = tuple(figure.launch for figure in figures)
    return FigureRow(figures[0], estimate(values), kind, values, numbers)
