# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The view of a session on a terminal: notes and progress on standard error, a live table."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from mpigauge.cli import output
from mpigauge.cli.output.begun import begin

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.measuring import campaign


class TerminalView:
    """Shows a session on standard error (session/view.py)."""

    def __init__(self, command: Sequence[str] = ()) -> None:
        """`command`: empty: the command line of this process."""
        self._command = command

    @property
    def command(self) -> Sequence[str]:
        return self._command or ("mpigauge", *sys.argv[1:])

    def note(self, text: str) -> None:
        output.note(text)

    def report(self, text: str) -> None:
        output.tell(text)

    def start(self) -> None:
        output.tell_notes()

    def begin(self, folder: Path) -> None:
        begin(folder)

    def of_campaign(self) -> campaign.View:
        from mpigauge.measuring import live

        return live.view(output.screen())

    def prepare(self) -> None:
        """Imports what prints a run, which takes as long as MPI_Init."""
        for module in ("session.limiting", "result.document", "result.stats.fit", "show.formats"):
            import_module(f"mpigauge.{module}")


TERMINAL = TerminalView()
