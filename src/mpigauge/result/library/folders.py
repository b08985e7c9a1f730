# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Run folders: their names, changes since they were read, and copies among them."""

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
    """Returns run folders by name, or by path if several have the same name. UserError: one of
    the paths is no run folder."""
    paths = list(paths)
    if file := next((path for path in paths if path.is_file()), None):
        raise UserError(f"{file} is a file and no run folder; `mpigauge import` makes one of it")
    for path in paths:
        if not is_reference(path) and not (path / "run.json").exists():
            raise UserError(f"{path} is not a run folder: it has no run.json")
    folders = list(dict.fromkeys(map(_whole_path, paths)))
    names = [path.name for path in folders]
    return {p.name if names.count(p.name) == 1 else str(p): p for p in folders}


def _whole_path(path: Path) -> Path:
    """Returns the absolute path of a folder; references of the library stay as they are."""
    if is_reference(path):
        return path
    return Path(os.path.normpath(path.absolute()))


def is_reference(path: Path) -> bool:
    return str(path).startswith(REFERENCE)


def state(folder: Path) -> str:
    """Returns the sizes and times of a run's files, as text that changes when the files do.

    Records only grow, so the size shows a change even if the file system's times are in seconds.
    """
    looks = {name: _look(folder / name) for name in _FILES}
    if looks["status.json"] == _NOT_THERE:
        with suppress(OSError):
            unfinished = sorted((folder / _UNFINISHED).glob("launch-*.jsonl"))
            looks |= {path.name: _look(path) for path in unfinished}
    return " ".join(f"{name}:{look}" for name, look in looks.items())


def _look(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return _NOT_THERE
    return f"{status.st_size}:{status.st_mtime_ns}"


def readable(folder: Path) -> bool:
    """True if all existing files can be read now; files lost by a file server may come back."""
    try:
        for name in _FILES:
            with suppress(FileNotFoundError), (folder / name).open("rb") as file:
                file.read(1)
    except OSError:
        return False
    return True


class Print(NamedTuple):
    """The fingerprint of a run, which its copies share."""

    made: str
    """Digest of run.json and passport.json: place, time and command; of an import, its programs
    and machine."""
    records: str
    """Digest of records.jsonl."""
    size: int
    """The size of records.jsonl in bytes."""


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
    """Returns the digest for Print.made; of an import its sources and machine, not its time."""
    if imported := run.header.get("imported"):
        machine = (run.passport.get("machine") or {}).get("hostname", "")
        return f"imported {imported['sources']} {machine}".rstrip()
    made = hashlib.sha256()
    for name in ("run.json", "passport.json"):
        with suppress(FileNotFoundError):
            made.update((run.path / name).read_bytes())
    return made.hexdigest()


def is_copy(one: Print, other: Print, folder: Path) -> bool:
    """True if a run equals `other` in this folder, or an earlier, shorter state of it."""
    if one.made != other.made or one.size > other.size:
        return False
    return one.records == other.records or one.records == _beginning(folder, one.size)


def _beginning(folder: Path, size: int) -> str:
    try:
        with (folder / "records.jsonl").open("rb") as file:
            return hashlib.sha256(file.read(size)).hexdigest()
    except OSError:
        return ""
