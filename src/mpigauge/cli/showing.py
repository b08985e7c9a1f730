# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints a stored run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpigauge.runs.store import Run


def show(stored: Run, form: str, limits_of: str | None = None, whole: bool = False) -> None:
    """`whole`: with all that headings leave out."""
    from dataclasses import replace

    from mpigauge.cli.limiting import with_limits
    from mpigauge.cli.screen import screen, write
    from mpigauge.result.document import document
    from mpigauge.show.formats import render

    found = document(stored, stored.plan.get("precision"))
    found = replace(with_limits(found, stored, limits_of), whole=whole)
    write(render(form, found, screen()))
