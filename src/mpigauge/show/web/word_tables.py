# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The tables of a page: of settings, of runs side by side, of fresh data and of memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.model.units import (
    many,
)
from mpigauge.show.comparisons import beside, best, fresh, memories
from mpigauge.show.formats.table import text_rows
from mpigauge.show.kinds import MANY_ROWS
from mpigauge.show.pivoted.markup import heads_of, rows_of, title_of
from mpigauge.show.pivoted.words import TableWords, legend, tables_of
from mpigauge.show.titles import title

if TYPE_CHECKING:
    from mpigauge.model.cards import Cards
    from mpigauge.result.compare.best import BestSettings
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.result.compare.pivot import Pivot
    from mpigauge.result.run_result import RunResult


@dataclass(frozen=True)
class WordTable:
    """A table of words."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    dim: frozenset[int] = frozenset()
    """Rows in which nothing is decided."""


_MOST_NUMBERS = 5 * MANY_ROWS
"""The most numbers in tables of sizes × settings or runs."""
ALL_ROWS = "`mpigauge show RUN` prints all rows, `mpigauge export csv RUN` writes them"
_ALL_PIVOTS = "`mpigauge show RUN --pivot COLUMN` and `compare` print all of them"


def setting_tables(shown: Sequence[RunResult]) -> tuple[list[WordTable], list[str]]:
    """Tables of all runs that vary anything, and the notes on them."""
    tables: list[WordTable] = []
    notes: list[str] = []
    for each in shown:
        if each.arms:
            of_run, words = _settings(each, f"{each.name}: " if len(shown) > 1 else "")
            tables += of_run
            notes += words
    return tables, notes


def _settings(shown: RunResult, of: str) -> tuple[list[WordTable], list[str]]:
    """Sizes × settings, then the best setting for each size, and the notes on both; all begin with
    `of`."""
    tables, notes = across_tables(shown.across, shown.run.cards)
    if shown.best:
        tables += _best(shown.best)
        notes += best.remarks(shown.best)
    named = [replace(table, title=f"{of}{table.title}") for table in tables]
    return named, [f"{of}{line}" for line in notes]


def across_tables(pivot: Pivot | None, cards: Cards) -> tuple[list[WordTable], list[str]]:
    """A table for each benchmark, as far as a page has room, and the notes on them."""
    if pivot is None:
        return [], []
    every, room = tables_of(pivot, cards), _MOST_NUMBERS
    shown: list[TableWords] = []
    for table in every:
        numbers = len(table.lines) * len(table.names)
        if numbers <= room:
            shown.append(table)
            room -= numbers
    notes = legend(shown)
    left = len(every) - len(shown)
    if left:
        notes.append(f"{many(left, 'more table')} of these: {_ALL_PIVOTS}.")
    return [_word_table(table) for table in shown], notes


def _word_table(table: TableWords) -> WordTable:
    undecided = []
    for n, line in enumerate(table.lines):
        if line.outcome == "undecided":
            undecided.append(n)
    return WordTable(title_of(table), heads_of(table), rows_of(table), frozenset(undecided))


def _best(result: BestSettings) -> Iterator[WordTable]:
    """A table of what is best at each size, for each benchmark."""
    failed = result.comparison.failed
    names = {name: name for name in (*result.comparison.names, *failed)}
    for each in result.tables:
        heads, *rows = best.text_rows(each, names, failed)
        first = each.table.first
        title = f"Best of {first.benchmark}"
        if not first.row:
            title += f" {first.what}"
        if first.ranks_word:
            title += f" on {first.ranks_word}"
        if len(rows) > MANY_ROWS:
            title += f", the first {MANY_ROWS} of {len(rows)} lines"
        yield WordTable(title, heads, rows[:MANY_ROWS])


def fresh_tables(shown: RunResult, comparison: Comparison) -> Iterator[WordTable]:
    for table in comparison.tables:
        rows = list(fresh.text_rows(table))
        if rows:
            title = beside.what_of([table.first], shown.run.cards, comparison.varied)
            yield WordTable(title, fresh.HEADS, rows)


def memory_tables(shown: RunResult, comparisons: Sequence[Comparison]) -> Iterator[WordTable]:
    for comparison in comparisons:
        heading = memories.heading_of(comparison)
        for table, (heads, *rows) in memories.differing_rows(comparison):
            yield WordTable(f"{heading} · {memories.title_of(table, shown.run.cards)}", heads, rows)


def word_tables(shown: RunResult) -> tuple[list[WordTable], str]:
    """Tables, as many as a page can hold, and a note on the others."""
    tables, room, left = [], MANY_ROWS, 0
    for table in shown.document.tables():
        if not table.rows:
            continue
        if len(table.rows) > room:
            left += 1
            continue
        heads, *rows = text_rows(table)
        tables.append(WordTable(title(table), heads, rows))
        room -= len(rows)
    if not left:
        return tables, ""
    return tables, f"{many(left, 'more table')} of this run: {ALL_ROWS}."
