# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What was once found out about files, kept while they stay as they are.

To ask a library or a compiler what it is takes a process, and to look into all sources takes
reading them, which is long beside a short measurement. An answer lies in the user's cache, a file
for each subject, with the stamps of the files that it came from; any other stamp makes it ask
again. Failures are not kept, and a cache that cannot be written is none.
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
    """The answer to what `ask` asks about the subject, which these files decide."""
    words = [kind, *subject]
    stamps = _digest(repr(_stamp(file)) for file in files)
    kept = folders.cache() / "answers" / f"{kind}-{_digest(words)}.json"
    if (known := _read(kept)) and known["of"] == [words, stamps]:
        return str(known["answer"])
    answer = ask()
    _write(kept, {"of": [words, stamps], "answer": answer})
    return answer


def _digest(words: Iterable[str]) -> str:
    return sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _stamp(file: Path) -> tuple[object, ...]:
    """Of the file that the name leads to; another one in its place has another."""
    try:
        found = file.stat()
    except OSError:
        return (str(file),)
    return (
        *(str(file), found.st_dev, found.st_ino, found.st_size),
        *(found.st_mtime_ns, found.st_ctime_ns),
    )


def _read(kept: Path) -> dict[str, object]:
    try:
        known = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if isinstance(known, dict) and {"of", "answer"} <= set(known):
        return known
    return {}


def _write(kept: Path, known: dict[str, object]) -> None:
    """As a whole or not at all."""
    new = kept.with_name(f"{kept.name}.{os.getpid()}")
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            new.write_text(json.dumps(known), encoding="utf-8")
            new.replace(kept)
        finally:
            new.unlink(missing_ok=True)
