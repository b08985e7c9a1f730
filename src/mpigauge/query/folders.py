# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which run folders there are, and whether one has changed since it was last read."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpigauge.store import Run

_FILES = ("run.json", "passport.json", "records.jsonl", "status.json")
_UNFINISHED = "progress"


def named(paths: Iterable[Path]) -> dict[str, Path]:
    """Run folders from anywhere by their names; by their paths where two are called the same."""
    paths = list(paths)
    if file := next((path for path in paths if path.is_file()), None):
        raise UserError(f"{file} is a file and no run folder; `mpigauge import` makes one of it")
    found = list(dict.fromkeys(Path(os.path.normpath(path.absolute())) for path in paths))
    names = [path.name for path in found]
    return {p.name if names.count(p.name) == 1 else str(p): p for p in found}


def state(folder: Path) -> str:
    """What changes whenever the files of a run do: their sizes and times, no contents.

    Records only grow, so that their size tells even where a file system counts times in seconds.
    """
    return " ".join(_looks(folder))


def _looks(folder: Path) -> Iterator[str]:
    for name in _FILES:
        yield _look(name, folder / name)
    if not (folder / "status.json").exists():
        for path in sorted((folder / _UNFINISHED).glob("launch-*.jsonl")):
            yield _look(path.name, path)


def _look(name: str, path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return f"{name}:-"
    return f"{name}:{found.st_size}:{found.st_mtime_ns}"


def identity(run: Run) -> str:
    """The same for copies of a run, also when one was made before the run had ended."""
    digest = hashlib.sha256()
    for name in ("run.json", "passport.json"):
        try:
            digest.update((run.path / name).read_bytes())
        except OSError:
            digest.update(b"-")
    first = run.launches[0] if run.launches else None
    digest.update(f"{first.time} {first.seed}".encode() if first else b"")
    return digest.hexdigest()[:32]
