# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A pivot in words, from which text, Markdown, LaTeX and pages take what they have room for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.model.units import UNKNOWN, byte_count, dotted, listed, number, plus_minus
from mpigauge.result.compare.match.items import SECONDS
from mpigauge.result.compare.summary import in_words
from mpigauge.show.comparisons.beside import FAILED, ends, numbers_of, remarks, what_of
from mpigauge.show.pivoted.names import ShortNames, short_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.cards import Cards
    from mpigauge.result.compare.comparison import (
        ComparedNumber,
        Comparison,
        ComparisonTable,
        Overall,
    )
    from mpigauge.result.compare.match.items import Item
    from mpigauge.result.compare.pivot import BestColumns, Outcome, Pivot, PivotLine, PivotTable

MARKS = {"best": "*", "undecided": "?"}
"""The marks behind the best numbers of a line. In benchstat a tilde marks numbers that do not
differ, so none stands here."""
MEAN = "mean"
"""The geometric mean of the ratios above."""


@dataclass(frozen=True)
class NumberWords:
    value: str = ""
    error: str = ""
    ratio: str = ""
    ends: str = ""
    """The ends of the ratio's interval."""
    mark: str = ""

    @property
    def whole_ratio(self) -> str:
        """1.25 (0.985–1.77)."""
        if self.ends:
            return f"{self.ratio} ({self.ends})"
        return self.ratio


@dataclass(frozen=True)
class LineWords:
    label: str
    numbers: tuple[NumberWords, ...]
    outcome: Outcome = ""


@dataclass(frozen=True)
class TableWords:
    title: str
    unit: str
    """The unit of its times; empty: lines have units of their own."""
    names: tuple[str, ...]
    """The names of the columns, without what they have in common."""
    common: str
    """The predicate of a sentence on what the names lack; empty: nothing."""
    base: int
    lines: tuple[LineWords, ...]
    mean: LineWords | None
    """The mean of the ratios above; None: no column has two of them."""
    counts: tuple[int, ...] = ()
    """The count of numbers in each mean; empty: the same in all columns."""

    @property
    def every_line(self) -> tuple[LineWords, ...]:
        """The lines of sizes, then that of means, where there is one."""
        if self.mean:
            return (*self.lines, self.mean)
        return self.lines

    @property
    def knows_errors(self) -> bool:
        """True if any of its numbers has an error."""
        errors = {number.error for line in self.lines for number in line.numbers}
        return not errors <= {"", "±?"}

    def notes(self) -> Iterator[str]:
        """The notes on the columns and the last line that a reader needs."""
        if self.common:
            yield f"Columns {self.common}"
        if not self.knows_errors:
            yield "±?: nothing is known of the error of these numbers."
        if self.mean and self.counts:
            counted = []
            for place, (name, count) in enumerate(zip(self.names, self.counts, strict=True)):
                if place != self.base and count:
                    counted.append(f"{count} of {name}")
            yield f"Means are over the sizes that both columns have: {', '.join(counted)}."


def tables_of(pivot: Pivot, cards: Cards) -> list[TableWords]:
    short = names_of(pivot)
    return [_table(table, cards, pivot.varied, short) for table in pivot.tables]


def names_of(pivot: Pivot) -> ShortNames:
    """The names of all columns, as short as they are told apart."""
    names = dict.fromkeys(name for table in pivot.tables for name in table.names)
    return short_names(list(names))


def legend(tables: Sequence[TableWords]) -> list[str]:
    """Explanations of the marks in these tables."""
    outcomes = {line.outcome for table in tables for line in table.every_line}
    sentences = []
    if "best" in outcomes:
        sentences.append("*: the best, or statistically equal to it.")
    if "undecided" in outcomes:
        sentences.append("?: the best number of a line in which nothing is decided.")
    return sentences


def notes_of(tables: Sequence[TableWords]) -> list[str]:
    """The notes on the columns of these tables, each sentence once."""
    return list(dict.fromkeys(note for table in tables for note in table.notes()))


def remarks_of(pivot: Pivot) -> list[str]:
    """The gains of the columns, how they were judged, and what is in no table."""
    gains: list[str] = []
    judged: list[str] = []
    short = names_of(pivot).by_name
    for named in pivot.comparisons:
        names = tuple(short.get(name, name) for name in named.names)
        comparison = in_words(replace(named, names=names))
        gains += _sentences(comparison)
        judged += remarks(replace(comparison, left_out=()), MEAN)
    left_out = [f"Left out: {words}." for words in pivot.alone]
    return [*gains, *dict.fromkeys(judged), *left_out]


def _sentences(comparison: Comparison) -> Iterator[str]:
    """The sentences of each table about decided columns, then the names of the undecided ones."""
    several = len(comparison.tables) > 1
    for table in comparison.tables:
        of = f"{table.first.benchmark}: " if several else ""
        open_ones = []
        for place, name in enumerate(comparison.names):
            if _is_open(table, place):
                open_ones.append(name)
        undecided = tuple(f"{name} is undecided (" for name in open_ones)
        for sentence in table.sentences:
            if not sentence.startswith(undecided):
                yield f"{of}{sentence}"
        if open_ones:
            yield f"{of}Nothing is decided of {listed(open_ones)}."


def _is_open(table: ComparisonTable, place: int) -> bool:
    """True if nothing is decided of a side."""
    verdicts = {entry.verdict for entry in table.column(place) if entry.judged}
    return verdicts == {"UNDECIDED"}


def _table(table: PivotTable, cards: Cards, varied: str, short: ShortNames) -> TableWords:
    return TableWords(
        title=_title(table, cards, varied),
        unit="µs" if table.first.unit == SECONDS else "",
        names=tuple(short.by_name[name] for name in table.names),
        common=short.common,
        base=table.base,
        lines=tuple(_line(line, table) for line in table.lines),
        mean=_mean(table),
        counts=_counts(table),
    )


def _line(line: PivotLine, table: PivotTable) -> LineWords:
    numbers = []
    for place, entry in enumerate(line.entries):
        failed = place in table.failed
        numbers.append(NumberWords(FAILED) if failed else _number(entry, place, line.choice))
    return LineWords(_label(line.first), tuple(numbers), line.choice.outcome)


def _counts(table: PivotTable) -> tuple[int, ...]:
    """The count of numbers in each mean; empty: the same in all columns."""
    counts = tuple(mean.numbers if mean else 0 for mean in table.overall)
    own = {table.base, *table.failed}
    others = {count for place, count in enumerate(counts) if place not in own}
    if len(others) > 1:
        return counts
    return ()


def _title(table: PivotTable, cards: Cards, varied: str) -> str:
    first = table.first
    if first.row or len(table.lines) == 1:
        return what_of(table.items, cards, varied)
    if varied == "ranks":
        return first.benchmark
    return dotted(first.benchmark, first.ranks_word)


def _label(item: Item) -> str:
    """The size, or what a figure is."""
    if item.row:
        return byte_count(item.message_bytes) or "time"
    if item.unit:
        return f"{item.what}, {item.unit}"
    return item.what


def _number(entry: ComparedNumber, place: int, choice: BestColumns) -> NumberWords:
    if entry.item is None:
        return NumberWords(UNKNOWN)
    value, error, ratio, interval, _ = numbers_of(entry)
    return NumberWords(value, error, ratio, interval, _mark(place, choice))


def _mean(table: PivotTable) -> LineWords | None:
    """The line of means; None: no column has a mean."""
    if not any(table.overall):
        return None
    numbers = [_mean_number(mean, at, table) for at, mean in enumerate(table.overall)]
    return LineWords(MEAN, tuple(numbers), table.choice.outcome)


def _mean_number(mean_ratio: Overall | None, place: int, table: PivotTable) -> NumberWords:
    mark = _mark(place, table.choice)
    if place == table.base:
        return NumberWords("1", mark=mark)
    if place in table.failed:
        return NumberWords(FAILED)
    if mean_ratio is None or not math.isfinite(mean_ratio.ratio.log):
        return NumberWords(ratio=UNKNOWN)
    mean = mean_ratio.ratio.estimate
    return NumberWords(
        error=plus_minus(mean.relative_error),
        ratio=number(mean.value, mean.error),
        ends=ends(mean_ratio),
        mark=mark,
    )


def _mark(place: int, choice: BestColumns) -> str:
    if place not in choice.columns:
        return ""
    return MARKS.get(choice.outcome, "")
