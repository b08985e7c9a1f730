# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The tables for people as Markdown, with what is to be noted as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.screen import PLAIN
from mpigauge.model.width import as_blocks
from mpigauge.show.formats.table import figure_rows, notes_of, text_rows
from mpigauge.show.heading import heading
from mpigauge.show.tables.markup import in_markdown, markdown_table
from mpigauge.show.titles import title

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document

ABOUT = "tables of Markdown, to be pasted into a page or an issue"


def render(document: Document, screen: Screen = PLAIN) -> str:  # noqa: ARG001
    blocks = [[f"{in_markdown(line)}  " for line in heading(document.facts)]]
    for table in document.tables():
        if table.rows:
            heads, *rows = text_rows(table, in_markdown)
            blocks += [[f"**{in_markdown(title(table))}**"], markdown_table(heads, rows)]
    if figures := figure_rows(document.figure_rows):
        heads, *rows = ([in_markdown(word) for word in words] for words in figures)
        blocks.append(markdown_table(heads, rows, left=len(heads)))
    blocks.append([f"- {in_markdown(line)}" for line in notes_of(document)])
    return as_blocks(blocks)
