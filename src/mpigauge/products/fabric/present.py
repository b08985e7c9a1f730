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


def present(stored: Run) -> None:
    """Prints the shares, hot spots, impacts and verdicts of a run."""
    shown = document(stored)
    fabric = fabric_of(stored, shown.rows)
    if fabric is not None:
        write(as_blocks([list(page(shown, fabric, screen().coloured))]))
