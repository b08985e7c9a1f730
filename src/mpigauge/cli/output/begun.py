# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The runs that this command measures: they are kept, whatever ends the command.

Ctrl-C or a full disk may end it at any moment, long after the last launch too, while a result is
computed or shown. Then the last line says where the run is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.cli.output import forget_notes, tell_notes
from mpigauge.model.typed import as_word

if TYPE_CHECKING:
    from pathlib import Path

_folders: dict[Path, bool] = {}
"""The folders of the runs; True: the run can be resumed."""


def begin(folder: Path, resumes: bool = True) -> None:
    """Notes that from now on a run is measured into this folder."""
    tell_notes()
    _folders.setdefault(folder, resumes)


def forget() -> None:
    """A new command begins."""
    forget_notes()
    _folders.clear()


def kept() -> str:
    """The folders of runs with launches, and what to do with them; empty: nothing was launched."""
    return "; ".join(_kept_in(*each) for each in _folders.items() if _launched(each[0]))


def _launched(folder: Path) -> bool:
    return any((folder / "logs").glob("launch-*.command"))


def _kept_in(folder: Path, resumes: bool) -> str:
    from mpigauge.runs.store.reader import status_of

    shows = f"the run is kept in {folder}, `mpigauge show {as_word(folder)}` shows it"
    if not resumes or status_of(folder).get("status") == "done":
        return shows
    return f"{shows} and `mpigauge resume {as_word(folder)}` goes on"
