# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The screen of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.cli.output import screen, write
from mpigauge.model.width import as_blocks
from mpigauge.products.fabric.show import page
from mpigauge.result.document import document
from mpigauge.result.fabric.fabric import fabric_of

if TYPE_CHECKING:
    from mpigauge.runs.store import Run


def present(stored: Run, whole: bool = False) -> None:
    """Prints the verdicts, shares, hot spots and impacts of a run on a screen, or all of them."""
    shown = document(stored)
    fabric = fabric_of(stored, shown.rows)
    if fabric is not None:
        write(as_blocks([list(page(shown, fabric, screen().coloured, whole))]))
