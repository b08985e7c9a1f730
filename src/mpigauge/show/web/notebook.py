# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A run in a cell of a notebook: the first plots of its report, and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.show.heading import heading
from mpigauge.show.web.page import filled
from mpigauge.show.web.report import MOST_FACTS, leading, sections
from mpigauge.show.web.word_tables import word_tables

if TYPE_CHECKING:
    from mpigauge.result.run_result import RunResult


def in_notebook(shown: RunResult) -> str:
    """A piece of HTML, which needs nothing from elsewhere."""
    tables, left = word_tables(shown)
    return filled(
        "notebook",
        name=shown.name,
        facts=heading(shown.document.facts)[:MOST_FACTS],
        pictures=leading(list(sections([shown]))),
        tables=tables,
        left=left,
    )
