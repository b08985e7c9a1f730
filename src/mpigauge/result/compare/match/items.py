# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Items of a comparison: the printed time of a row, or a figure; both over launches."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from mpigauge.model.column_facts import IDENTITY
from mpigauge.model.grouping import grouped
from mpigauge.model.row import Estimate
from mpigauge.model.units import many
from mpigauge.result.stats.figures import Columns, columns_of, figure_rows
from mpigauge.result.stats.ratio import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Figure
    from mpigauge.model.row import Row
    from mpigauge.result.stats.figures import FigureRow
    from mpigauge.result.stats.verdicts import Verdict

SECONDS = "s"
BYTES = "B"
LAUNCH, ROUND = "launch", "round"
MEDIAN, WORST, BEST = RESPONSES = ("median", "worst", "best")
"""The summaries over launches that a number may be."""
OF_LAUNCHES = "of_launches"
"""The column with the number of launches that a worst or best one is of."""
_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType({
    "time": {"LESS": "FASTER", "MORE": "SLOWER"},
    "lower": {"LESS": "BETTER", "MORE": "WORSE"},
    "higher": {"LESS": "WORSE", "MORE": "BETTER"},
    "": {"LESS": "LOWER", "MORE": "HIGHER"},
})  # fmt: skip


@dataclass(frozen=True)
class Item:
    columns: Columns
    """The columns that identify it: those of a cell's key or of a figure, in their order."""
    benchmark: str
    message_bytes: int
    """-1: it has no message."""
    what: str
    """The name of a figure; of a row "time"."""
    unit: str
    better: str
    """lower, higher, or empty: neither."""
    value: Estimate
    """The number with its interval, in `unit`."""
    sample: Sample
    numbers: tuple[int, ...]
    """The numbers of the launches in the sample."""
    row: Row | None = None
    figure: Figure | None = None
    """The figure of the first launch. An item has either a row or a figure."""
    repeated: str = LAUNCH
    """The word for what each value of the sample is of: LAUNCH or ROUND."""
    distance: str = ""
    """The distance of its two ranks, in words of `--place`; empty: unknown, or not two ranks."""

    @property
    def ranks_word(self) -> str:
        """The number of ranks in words, such as 2 ranks; empty: unknown."""
        ranks = dict(self.columns).get("ranks")
        if not ranks:
            return ""
        return many(ranks, "rank")

    def word(self, verdict: Verdict) -> str:
        """FASTER and SLOWER of times, BETTER and WORSE of figures with a direction."""
        return word_of("time" if self.row else self.better, verdict)

    def worse(self, verdict: Verdict) -> bool:
        return verdict == {"lower": "MORE", "higher": "LESS"}.get(self.better)

    def launch(self, which: str) -> float:
        """The value of the best or worst launch; where neither direction is better, the largest is
        the worst."""
        least = (self.better == "higher") == (which == WORST)
        if least:
            return min(self.sample.values)
        return max(self.sample.values)

    def of_launch(self, which: str) -> Item:
        """Returns this item of the best or worst launch alone, whose error is unknown."""
        value, values = self.launch(which), self.sample.values
        return replace(
            self,
            value=Estimate(value, math.nan, math.nan),
            sample=Sample((value,)),
            numbers=(self.numbers[values.index(value)],),
            columns=(*self.columns, (OF_LAUNCHES, len(values))),
        )


def word_of(kind: str, verdict: Verdict) -> str:
    """The verdict on a time ("time"), or on a figure of which `lower`, `higher` or "" is better."""
    return _WORDS[kind].get(verdict, verdict)


def items(
    rows: Iterable[Row],
    figures: Iterable[Figure] = (),
    without: Sequence[str] = (),
    distance: Callable[[Row], str] = lambda _: "",
) -> tuple[Item, ...]:
    """Returns all items of rows and figures. `without`: columns that do not identify them;
    `distance`: returns the distance of the two ranks of a row."""
    all_rows = list(rows)
    placed = _standing_for_placements(all_rows)
    times = []
    for row in all_rows:
        item = _of_row(row, without, _of_one_group(row.cell) if id(row) in placed else row.cell)
        times.append(replace(item, distance=distance(row)))
    return (*times, *(_of_figure(row, without) for row in figure_rows(figures)))


def _standing_for_placements(rows: Sequence[Row]) -> frozenset[int]:
    """Returns the ids of the rows of pairs that stand for a placement: pairs of a job that
    placements share. A placement with several pairs is that of a map."""
    alike = grouped(
        (row for row in rows if row.cell.placement and row.cell.members),
        lambda row: _of_one_group(row.cell).key,
    )
    alone = (of[0] for of in alike.values() if len(of) == 1)
    return frozenset(map(id, alone))


def _of_one_group(cell: Cell) -> Cell:
    """Returns the cell as of a job of its two ranks alone."""
    return replace(cell, group=-1, members="")


def _of_row(row: Row, without: Sequence[str], cell: Cell) -> Item:
    scale = row.cell.time_scale
    names = [name for name in IDENTITY if name not in without]
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
    """Returns half the width of the row's interval, as a logarithm; 0 without an interval."""
    low, high = row.cell.ci_low_s, row.cell.ci_high_s
    if not 0 < low < high:
        return 0.0
    return math.log(high / low) / 2


def _of_figure(row: FigureRow, without: Sequence[str]) -> Item:
    figure = row.figure
    return Item(
        columns=tuple((name, value) for name, value in columns_of(figure) if name not in without),
        benchmark=figure.benchmark,
        message_bytes=-1,
        what=figure.name,
        unit=figure.unit,
        better=figure.better,
        value=row.value,
        sample=Sample(row.values),
        numbers=row.numbers,
        figure=figure,
    )
