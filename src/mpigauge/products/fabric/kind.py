# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Networks as a kind of runs: `show` prints their screen, `compare` a line for each of
their numbers; all else is as with other runs."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from mpigauge.cli.runs.kinds import MEDIAN, Kind, ShowOptions, kind
from mpigauge.model.errors import UserError
from mpigauge.session.run_names import find_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.cli.runs.kinds import CompareOptions
    from mpigauge.result.compare.comparison import ComparedNumber, Overall

_REFERENCE = "ref:"
_PIVOTS = ("markdown", "latex")


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

    def compare(
        self, words: Sequence[str], how: CompareOptions
    ) -> Sequence[ComparedNumber | Overall]:
        """Prints networks beside the first; a pivot is as of any run. UserError: an option does
        not apply to networks."""
        from mpigauge.products.fabric.comparing import compare_networks

        if how.response != MEDIAN:
            raise UserError(
                f"--response {how.response} chooses a launch, and numbers of a network are medians "
                "over rounds; leave it out"
            )
        if how.scaling or how.pivot is not None or how.form in _PIVOTS:
            return super().compare(words, how)
        return compare_networks(words, how)


def holds_fabric(folder: Path) -> bool:
    """True if `mpigauge fabric` measured the run in a folder."""
    from mpigauge.result.fabric.fabric import HEADER

    with suppress(OSError, ValueError, RecursionError):
        header = json.loads((folder / "run.json").read_bytes())
        return isinstance(header, dict) and HEADER in header
    return False
