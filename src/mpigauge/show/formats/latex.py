# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The tables for people as tables of LaTeX, with what is to be noted as comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.flags import legend
from mpigauge.model.screen import PLAIN
from mpigauge.show.formats.table import heading, text_rows
from mpigauge.show.markup import in_latex, latex_table
from mpigauge.show.titles import title

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document

ABOUT = "tables of LaTeX, with the rules of booktabs"


def render(document: Document, screen: Screen = PLAIN) -> str:  # noqa: ARG001
    blocks = [
        ["% needs \\usepackage{booktabs}", *(f"% {line}" for line in heading(document.facts))]
    ]
    for table in document.tables():
        if table.rows:
            heads, *rows = [[in_latex(word) for word in words] for words in text_rows(table)]
            blocks.append([f"% {title(table)}", *latex_table(heads, rows)])
    flags = legend(document.rows)
    notes = [f"Flags: {', '.join(flags)}"] if flags else []
    blocks.append([f"% {line}" for line in (*notes, *document.sentences)])
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"
