# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The tables for people as Markdown, with what is to be noted as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.flags import legend
from mpigauge.model.screen import PLAIN
from mpigauge.show.formats.table import heading, text_rows
from mpigauge.show.markup import in_markdown, markdown_table
from mpigauge.show.titles import title

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document

ABOUT = "tables of Markdown, to be pasted into a page or an issue"


def render(document: Document, screen: Screen = PLAIN) -> str:  # noqa: ARG001
    blocks = [[in_markdown(line) + "  " for line in heading(document.facts)]]
    for table in document.tables():
        if table.rows:
            heads, *rows = [[in_markdown(word) for word in words] for words in text_rows(table)]
            blocks += [[f"**{in_markdown(title(table))}**"], markdown_table(heads, rows)]
    flags = legend(document.rows)
    notes = [f"Flags: {', '.join(flags)}"] if flags else []
    blocks.append([f"- {in_markdown(line)}" for line in (*notes, *document.sentences)])
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"
