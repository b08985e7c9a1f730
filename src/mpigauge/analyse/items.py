# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What can be compared: the printed time of a row, or a figure; both over launches."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mpigauge.model.columns import KEY_COLUMNS
from mpigauge.model.record import Figure
from mpigauge.model.row import NOTHING, Estimate
from mpigauge.stats.launches import LEAST_FOR_INTERVAL, hull
from mpigauge.stats.order import median
from mpigauge.stats.ratio import Sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mpigauge.model.row import Row
    from mpigauge.stats.verdicts import Said

Columns = tuple[tuple[str, Any], ...]
SECONDS = "s"
_OF_ROWS = (*KEY_COLUMNS, "statistic")
_NOT_OF_FIGURES = ("launch", "value")
_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "time": {"LESS": "FASTER", "MORE": "SLOWER"},
    "lower": {"LESS": "BETTER", "MORE": "WORSE"},
    "higher": {"LESS": "WORSE", "MORE": "BETTER"},
    "": {"LESS": "LOWER", "MORE": "HIGHER"},
})  # fmt: skip


@dataclass(frozen=True)
class Item:
    columns: Columns
    """What makes it this one: the columns of a cell's key or of a figure, in their order."""
    benchmark: str
    message_bytes: int
    """-1: it has no message."""
    what: str
    """The name of a figure; of a row "time"."""
    unit: str
    better: str
    """lower, higher, or empty: neither."""
    value: Estimate
    """In its unit."""
    sample: Sample
    numbers: tuple[int, ...]
    """Of the launches that the sample is of."""
    row: Row | None = None

    def word(self, said: Said) -> str:
        """FASTER and SLOWER of times, BETTER and WORSE of figures with a direction."""
        return _WORDS["time" if self.row else self.better].get(said, said)

    def worse(self, said: Said) -> bool:
        return said == {"lower": "MORE", "higher": "LESS"}.get(self.better)


def items(
    rows: Iterable[Row], figures: Iterable[Figure] = (), without: Sequence[str] = ()
) -> tuple[Item, ...]:
    """All that rows and figures hold. Columns `without` are not among those that tell them
    apart."""
    found = [_of_row(row, without) for row in rows]
    launches: dict[Columns, dict[int, Figure]] = {}
    for figure in figures:
        launches.setdefault(_columns_of(figure, without), {})[figure.launch] = figure
    found += [_of_figures(key, [of[i] for i in sorted(of)]) for key, of in launches.items()]
    return tuple(found)


def _of_row(row: Row, without: Sequence[str]) -> Item:
    cell, scale = row.cell, row.cell.time_scale
    names = [name for name in _OF_ROWS if name not in without]
    return Item(
        columns=tuple((name, getattr(cell, name)) for name in names),
        benchmark=row.benchmark,
        message_bytes=row.message_bytes,
        what="time",
        unit=SECONDS,
        better="lower",
        value=row.latency,
        sample=Sample(tuple(value * scale for value in row.values_s), _own_error(row)),
        numbers=row.numbers,
        row=row,
    )


def _own_error(row: Row) -> float:
    """What a launch usually knows, as a share."""
    low, high = row.cell.ci_low_s, row.cell.ci_high_s
    return math.log(high / low) / 2 if 0 < low < high else 0.0


def _columns_of(figure: Figure, without: Sequence[str]) -> Columns:
    names = [f.name for f in fields(Figure) if f.name not in (*_NOT_OF_FIGURES, *without)]
    return tuple((name, getattr(figure, name)) for name in names)


def _of_figures(columns: Columns, figures: Sequence[Figure]) -> Item:
    first, values = figures[0], [figure.value for figure in figures]
    return Item(
        columns=columns,
        benchmark=first.benchmark,
        message_bytes=-1,
        what=first.name,
        unit=first.unit,
        better=first.better,
        value=_estimate(values),
        sample=Sample(tuple(values)),
        numbers=tuple(figure.launch for figure in figures),
    )


def _estimate(values: Sequence[float]) -> Estimate:
    """As for rows: an interval from six launches on, then a range, and of one nothing is known."""
    if not all(map(math.isfinite, values)):
        return NOTHING
    if len(values) == 1:
        return Estimate(values[0], math.nan, math.nan)
    enough = len(values) >= LEAST_FOR_INTERVAL
    low, high = hull(values, values, values) if enough else (min(values), max(values))
    return Estimate(median(values), low, high)
