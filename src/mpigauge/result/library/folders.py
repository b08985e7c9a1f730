# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which runs are meant, whether one has changed since it was read, and which are copies."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.errors import UserError
from mpigauge.runs.store.imported import REFERENCE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mpigauge.runs.store import Run

_FILES = ("run.json", "passport.json", "records.jsonl", "status.json", "history.json")
_UNFINISHED = "progress"
_NOT_THERE = "-"


def by_name(paths: Iterable[Path]) -> dict[str, Path]:
    """Run folders from anywhere by their names; by their paths where two are called the same."""
    paths = list(paths)
    if file := next((path for path in paths if path.is_file()), None):
        raise UserError(f"{file} is a file and no run folder; `mpigauge import` makes one of it")
    for path in paths:
        if not is_reference(path) and not (path / "run.json").exists():
            raise UserError(f"{path} is not a run folder: it has no run.json")
    found = list(dict.fromkeys(map(_whole_path, paths)))
    names = [path.name for path in found]
    return {p.name if names.count(p.name) == 1 else str(p): p for p in found}


def _whole_path(path: Path) -> Path:
    """Of a folder; references of the library have names only."""
    if is_reference(path):
        return path
    return Path(os.path.normpath(path.absolute()))


def is_reference(path: Path) -> bool:
    return str(path).startswith(REFERENCE)


def state(folder: Path) -> str:
    """What changes whenever the files of a run do: their sizes and times, no contents.

    Records only grow, so that their size tells even where a file system counts times in seconds.
    """
    looks = {name: _look(folder / name) for name in _FILES}
    if looks["status.json"] == _NOT_THERE:
        with suppress(OSError):
            unfinished = sorted((folder / _UNFINISHED).glob("launch-*.jsonl"))
            looks |= {path.name: _look(path) for path in unfinished}
    return " ".join(f"{name}:{look}" for name, look in looks.items())


def _look(path: Path) -> str:
    try:
        found = path.stat()
    except OSError:
        return _NOT_THERE
    return f"{found.st_size}:{found.st_mtime_ns}"


def readable(folder: Path) -> bool:
    """Whether the files that are there can be read now: what a file server loses may come back."""
    try:
        for name in _FILES:
            with suppress(FileNotFoundError), (folder / name).open("rb") as file:
                file.read(1)
    except OSError:
        return False
    return True


class Print(NamedTuple):
    """What tells copies of a run from other runs."""

    made: str
    """Digest of run.json and passport.json: where, when and by which command it was made; of an
    import, of which programs and machine."""
    records: str
    """Digest of records.jsonl."""
    size: int
    """Of records.jsonl in bytes."""


NOBODY = Print("", "", 0)


def print_of(run: Run) -> Print:
    if is_reference(run.path):
        return Print(str(run.path), "", 0)
    size, records = 0, hashlib.sha256()
    with suppress(FileNotFoundError):
        content = (run.path / "records.jsonl").read_bytes()
        size, records = len(content), hashlib.sha256(content)
    return Print(_made(run), records.hexdigest(), size)


def _made(run: Run) -> str:
    """Of what was imported it does not matter when, but of which machine it is said to be."""
    if imported := run.header.get("imported"):
        machine = (run.passport.get("machine") or {}).get("hostname", "")
        return f"imported {imported['sources']} {machine}".rstrip()
    made = hashlib.sha256()
    for name in ("run.json", "passport.json"):
        with suppress(FileNotFoundError):
            made.update((run.path / name).read_bytes())
    return made.hexdigest()


def is_copy(one: Print, other: Print, folder: Path) -> bool:
    """Whether a run is the same as `other` in this folder, or as that was when it was shorter."""
    if one.made != other.made or one.size > other.size:
        return False
    return one.records == other.records or one.records == _beginning(folder, one.size)


def _beginning(folder: Path, size: int) -> str:
    try:
        with (folder / "records.jsonl").open("rb") as file:
            return hashlib.sha256(file.read(size)).hexdigest()
    except OSError:
        return ""
