# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Cached answers about files, valid while the files are unchanged.

A query of a library or a compiler takes a process, and a digest of all sources takes reading them,
which is long compared with a short measurement. An answer is stored in the user's cache, a file for
each subject, with the stamps of the files that it came from; any other stamp causes a new query.
Failures are not kept, and a cache that is not writable has no effect.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from mpigauge.site.builds import folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path


def remembered(
    kind: str, subject: Iterable[str], files: Iterable[Path], ask: Callable[[], str]
) -> str:
    """Returns the answer of `ask` about the subject, which depends on these files."""
    subject, files = list(subject), list(files)
    answer = kept(kind, subject, files)
    if answer is None:
        answer = ask()
        keep(kind, subject, files, answer)
    return answer


def kept(kind: str, subject: Sequence[str], files: Sequence[Path]) -> str | None:
    """Returns the stored answer; None: nothing is stored, or a file has changed."""
    record = _read(_place(kind, subject))
    if record and record["of"] == _about(kind, subject, files):
        return str(record["answer"])
    return None


def keep(kind: str, subject: Sequence[str], files: Sequence[Path], answer: str) -> None:
    """Stores an answer in place of an earlier one."""
    _write(_place(kind, subject), {"of": _about(kind, subject, files), "answer": answer})


def _place(kind: str, subject: Sequence[str]) -> Path:
    return folders.cache() / "answers" / f"{kind}-{_digest([kind, *subject])}.json"


def _about(kind: str, subject: Sequence[str], files: Iterable[Path]) -> list[object]:
    return [[kind, *subject], _digest(repr(_stamp(file)) for file in files)]


def _digest(words: Iterable[str]) -> str:
    return sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _stamp(file: Path) -> tuple[object, ...]:
    """Returns the stamp of the file that the name resolves to; a file in its place has another."""
    try:
        status = file.stat()
    except OSError:
        return (str(file),)
    return (
        *(str(file), status.st_dev, status.st_ino, status.st_size),
        *(status.st_mtime_ns, status.st_ctime_ns),
    )


def _read(kept: Path) -> dict[str, object]:
    try:
        record = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if isinstance(record, dict) and {"of", "answer"} <= set(record):
        return record
    return {}


def _write(kept: Path, record: dict[str, object]) -> None:
    """Writes the file completely or not at all."""
    new = kept.with_name(f"{kept.name}.{os.getpid()}")
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            new.write_text(json.dumps(record), encoding="utf-8")
            new.replace(kept)
        finally:
            new.unlink(missing_ok=True)
