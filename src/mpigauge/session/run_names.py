# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds a stored run by a word."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.result.large_map import load_map
from mpigauge.runs.store import list_runs, load
from mpigauge.runs.store.pack import opened
from mpigauge.runs.store.writer import DEFAULT_ROOT
from mpigauge.session.view import SILENT, View

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.large_map import LargeMap
    from mpigauge.runs.store import Run

LAST = "last"


def open_run(word: str) -> Run:
    """The run that a word names: as `find_run` takes it, a file that `mpigauge share` has made, or
    `ref:NAME` of the reference library.

    UserError: it does not exist, or its folder cannot be read.
    """
    from dataclasses import replace

    from mpigauge.runs.store.imported import REFERENCE, load_reference

    if word.startswith(REFERENCE):
        return load_reference(word.removeprefix(REFERENCE))
    path = find_run(word)
    with opened(path) as folder:
        return replace(load(folder), path=path)


def open_runs(words: Sequence[str], view: View = SILENT) -> list[Run]:
    """Opens the runs that these words name. A folder with the runs of several MPIs stands for all
    of them, or next to references for those of the references' MPI; a note names the others."""
    from mpigauge.runs.store.imported import REFERENCE

    named = [(word, [open_run(each) for each in _of_several_mpis(word)]) for word in words]
    mpis = {
        _letters_of_mpi(run) for word, runs in named if word.startswith(REFERENCE) for run in runs
    }
    kept: list[Run] = []
    for _, runs in named:
        alike = runs
        if len(runs) > 1 and len(mpis) == 1:
            alike = [run for run in runs if _is_same_mpi(_letters_of_mpi(run), *mpis)] or runs
        for run in runs:
            if run not in alike:
                view.note(f"{run.path} is left out: the reference is of another MPI")
        kept += alike
    return kept


def _of_several_mpis(word: str) -> list[str]:
    """Returns the runs in a folder that is none itself; else the word."""
    folder = Path(word)
    if not folder.is_dir() or (folder / "run.json").exists():
        return [word]
    return [str(file.parent) for file in sorted(folder.glob("*/run.json"))] or [word]


def _letters_of_mpi(run: Run) -> str:
    """Returns the letters of the MPI's name: openmpi of Open MPI 4.1."""
    name = str((run.header.get("mpi") or {}).get("name", ""))
    return "".join(letter for letter in name.lower() if letter.isalpha())


def _is_same_mpi(first: str, second: str) -> bool:
    """True if one name begins with the other, as Intel MPI does with intel."""
    return bool(first and second) and (first.startswith(second) or second.startswith(first))


def open_large_map(word: str, rows: int = 0) -> LargeMap | None:
    """The large map that a word names, so many of its pairs as records; None: it names another run,
    or one that is no folder."""
    from mpigauge.runs.store.imported import REFERENCE

    path = None if word.startswith(REFERENCE) else find_run(word)
    if path is None or not path.is_dir():
        return None
    return load_map(path, rows)


def find_run(word: str) -> Path:
    """A path, a name below mpigauge-runs or the beginning of one, or `last`."""
    if Path(word).exists():
        return Path(word)
    matches = _matching(word, DEFAULT_ROOT)
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(path.name for path in matches[:4])
        raise UserError(f"'{word}' fits {len(matches)} runs ({names}, …); write more of the name")
    raise UserError(
        f"there is no run '{word}', neither at this path nor in {DEFAULT_ROOT}; "
        "`mpigauge runs` lists the runs"
    )


def _matching(word: str, root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    paths = [run.path for run in list_runs(root)]
    if word == LAST:
        return paths[-1:]
    exact = [path for path in paths if path.name == word]
    return exact or [path for path in paths if path.name.startswith(word)]
