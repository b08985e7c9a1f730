# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Kinds of memory against each other, for people: the sizes at which they differ, and a sentence
for each benchmark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.model.width import broken
from mpigauge.show.comparisons.beside import fitting, joined, text_rows, what_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.cards import Cards
    from mpigauge.result.compare.comparison import Comparison, ComparisonTable
    from mpigauge.show.comparisons.beside import Words

HEADING = "Kinds of memory"


def memory_lines(comparisons: Sequence[Comparison], cards: Cards) -> list[str]:
    """A table of the sizes at which kinds differ, and below it a sentence for each kind."""
    lines: list[str] = []
    for comparison in comparisons:
        rows_of = {id(table): rows for table, rows in differing_rows(comparison)}
        for table in comparison.tables:
            lines += broken([f"{heading_of(comparison)} · {title_of(table, cards)}"])
            lines += joined(fitting(rows_of[id(table)])) if id(table) in rows_of else ()
            lines += [*broken(table.sentences), ""]
        lines += broken(f"Left out: {left.text}." for left in comparison.left_out)
    return lines[:-1] if lines and not lines[-1] else lines


def heading_of(comparison: Comparison) -> str:
    return f"{HEADING} against {comparison.names[0]}"


def title_of(table: ComparisonTable, cards: Cards) -> str:
    """The title of a table without the memory of its rows."""
    return what_of([table.first], cards, "memory")


def differing_rows(comparison: Comparison) -> Iterator[tuple[ComparisonTable, list[Words]]]:
    """Each table with its heads, and a line for each kind at each size at which one differs."""
    for table in comparison.tables:
        if lines := tuple(table.differing):
            shown = replace(table, lines=lines, overall=(None,) * len(comparison.names))
            yield table, text_rows(shown, comparison.names)
