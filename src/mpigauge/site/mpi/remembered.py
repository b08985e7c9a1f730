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

from mpigauge.site.mpi import folders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


def remembered(
    kind: str, subject: Iterable[str], files: Iterable[Path], ask: Callable[[], str]
) -> str:
    """Returns the answer of `ask` about the subject, which depends on these files."""
    words = [kind, *subject]
    stamps = _digest(repr(_stamp(file)) for file in files)
    kept = folders.cache() / "answers" / f"{kind}-{_digest(words)}.json"
    if (record := _read(kept)) and record["of"] == [words, stamps]:
        return str(record["answer"])
    answer = ask()
    _write(kept, {"of": [words, stamps], "answer": answer})
    return answer


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
