# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Networks as a kind of runs: `show` prints their screen; all else is as with other runs."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from mpigauge.cli.runs.kinds import Kind, ShowOptions, kind
from mpigauge.session.run_names import find_run

if TYPE_CHECKING:
    from pathlib import Path

_REFERENCE = "ref:"


@kind("fabric")
class Networks(Kind):
    def is_this(self, word: str) -> bool:
        return not word.startswith(_REFERENCE) and holds_fabric(find_run(word))

    def show(self, word: str, how: ShowOptions) -> None:
        """Prints the screen of a network, or with --all everything; with another option, what it
        is of any run."""
        from mpigauge.products.fabric.present import present
        from mpigauge.session.run_names import open_run

        if how == ShowOptions(whole=how.whole):
            present(open_run(word), how.whole)
        else:
            super().show(word, how)


def holds_fabric(folder: Path) -> bool:
    """True if `mpigauge fabric` measured the run in a folder."""
    from mpigauge.result.fabric.fabric import HEADER

    with suppress(OSError, ValueError, RecursionError):
        header = json.loads((folder / "run.json").read_bytes())
        return isinstance(header, dict) and HEADER in header
    return False
