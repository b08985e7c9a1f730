# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A pivot as Markdown, as LaTeX, and as plain words for a page: a column for each number and one
for each ratio. The best are bold; a line in which nothing is decided is grey."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.width import as_blocks
from mpigauge.show.pivoted.words import NumberWords, legend, notes_of
from mpigauge.show.tables.markup import (
    commented,
    in_latex,
    in_markdown,
    latex_table,
    markdown_table,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mpigauge.show.pivoted.words import LineWords, TableWords

_NEEDS = "% needs \\usepackage{booktabs} and \\usepackage{xcolor}"


def markdown(
    tables: Sequence[TableWords], heading: Sequence[str] = (), remarks: Sequence[str] = ()
) -> str:
    blocks = [[f"{in_markdown(line)}  " for line in heading]]
    for table in tables:
        rows = [_words(table, line, _in_markdown) for line in table.every_line]
        heads = [in_markdown(head) for head in heads_of(table)]
        blocks.append([f"**{in_markdown(title_of(table))}**"])
        blocks.append(markdown_table(heads, rows))
    for line in _notes(tables, remarks):
        blocks.append([f"- {in_markdown(line)}"])
    return as_blocks(blocks)


def latex(
    tables: Sequence[TableWords], heading: Sequence[str] = (), remarks: Sequence[str] = ()
) -> str:
    blocks = [[_NEEDS, *commented(heading)]]
    for table in tables:
        rows = [_words(table, line, _in_latex) for line in table.every_line]
        heads = [in_latex(head) for head in heads_of(table)]
        last = 1 if table.mean else 0
        blocks.append([*commented([title_of(table)]), *latex_table(heads, rows, last=last)])
    blocks.append(commented(_notes(tables, remarks)))
    return as_blocks(blocks)


def title_of(table: TableWords) -> str:
    return f"{table.title} · ratio to {table.names[table.base]}"


def heads_of(table: TableWords) -> list[str]:
    """The heads of the columns; the base of the ratios has no column of ratios."""
    heads = ["bytes"]
    for place, name in enumerate(table.names):
        heads.append(f"{name}, {table.unit}" if table.unit else name)
        if place != table.base:
            heads.append("ratio (95 %)")
    return heads


def rows_of(table: TableWords) -> list[list[str]]:
    """Plain words, with the marks of text."""
    return [_words(table, line, _plain) for line in table.every_line]


def _words(
    table: TableWords, line: LineWords, wrap: Callable[[str, NumberWords, LineWords], str]
) -> list[str]:
    words = [wrap(line.label, NumberWords(), line)]
    for place, number in enumerate(line.numbers):
        error = number.error if number.value and table.knows_errors else ""
        words.append(wrap(f"{number.value} {error}".strip(), number, line))
        if place != table.base:
            words.append(wrap(number.whole_ratio, _unless_value(number), line))
    return words


def _unless_value(number: NumberWords) -> NumberWords:
    """The mark stands at the value; of a mean, which has none, at the ratio."""
    if number.value:
        return NumberWords()
    return number


def _plain(text: str, number: NumberWords, line: LineWords) -> str:
    del line
    if text:
        return f"{text}{number.mark}"
    return text


def _in_markdown(text: str, number: NumberWords, line: LineWords) -> str:
    if line.outcome == "undecided":
        text = _plain(text, number, line)
    escaped = in_markdown(text)
    if escaped and number.mark and line.outcome == "best":
        return f"**{escaped}**"
    return escaped


def _in_latex(text: str, number: NumberWords, line: LineWords) -> str:
    escaped = in_latex(text)
    if not escaped:
        return escaped
    if line.outcome == "undecided":
        return rf"\textcolor{{gray}}{{{escaped}}}"
    if number.mark:
        return rf"\textbf{{{escaped}}}"
    return escaped


def _notes(tables: Sequence[TableWords], remarks: Sequence[str]) -> list[str]:
    return [*legend(tables), *notes_of(tables), *remarks]
