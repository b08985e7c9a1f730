# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The tables for people as tables of LaTeX, with what is to be noted as comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.model.screen import PLAIN
from mpigauge.model.width import as_blocks
from mpigauge.show.formats.table import figure_rows, notes_of, text_rows
from mpigauge.show.heading import heading
from mpigauge.show.tables.markup import commented, in_latex, latex_table
from mpigauge.show.titles import title

if TYPE_CHECKING:
    from mpigauge.model.screen import Screen
    from mpigauge.result.document import Document

ABOUT = "tables of LaTeX, with the rules of booktabs"


def render(document: Document, screen: Screen = PLAIN) -> str:  # noqa: ARG001
    blocks = [["% needs \\usepackage{booktabs}", *commented(heading(document.facts))]]
    for table in document.tables():
        if table.rows:
            heads, *rows = text_rows(table, in_latex)
            blocks.append([*commented([title(table)]), *latex_table(heads, rows)])
    if figures := figure_rows(document.figure_rows):
        heads, *rows = ([in_latex(word) for word in words] for words in figures)
        blocks.append(latex_table(heads, rows, left=len(heads)))
    blocks.append(commented(notes_of(document)))
    return as_blocks(blocks)
