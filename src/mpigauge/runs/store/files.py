# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Files that are written completely or not at all, and files that only grow by whole pieces."""

from __future__ import annotations

import json
import os
import re
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mpigauge.model.moments import UTC_FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HISTORY = "history.json"
"""The file for the history that a run used."""
LEFT = ".left.json"
"""The file that names the folder of ranks' files until a profile has collected them."""
OWN = 0o600
"""The mode of a file that only its owner may read."""
_ORDER = re.compile(
    r"(?<!\\)((?:\\\\)*)\\(?:[bf]|u00(?:0[0-8bcef]|1[0-9a-f]|7f|[89][0-9a-f]))", re.IGNORECASE
)
"""A control character as JSON escapes it, after pairs of backslashes."""
SCHEMA = 1
"""The schema of run folders. A newer one is refused, an older one is read."""


def launch_file(folder: Path, kind: str, launch: int, suffix: str) -> Path:
    return folder / kind / f"launch-{launch:03d}.{suffix}"


@contextmanager
def failing_as(error: type[Exception], path: Path) -> Iterator[None]:
    """Turns an OSError into this error, with one sentence that names the file."""
    try:
        yield
    except OSError as refusal:
        raise error(f"cannot write {path}: {refusal.strerror or refusal}") from None


def write_whole(path: Path, text: str) -> None:
    """The file holds the old text or the new one, never a part. A byte of a file's name that is no
    UTF-8 is written as JSON does it: \\udcff."""
    with whole(path) as part:
        part.write_text(text, encoding="utf-8", errors="backslashreplace")


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yields a temporary name to write under: a complete file is renamed to `path`; if that is a
    pipe, a terminal or a device, its content is written there.

    No other process uses this name, even on another host of a shared file system.
    """
    if path.exists() and not path.is_file():
        with _in_place(path) as part:
            yield part
        return
    part = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


@contextmanager
def _in_place(path: Path) -> Iterator[Path]:
    with TemporaryDirectory(prefix="mpigauge-") as folder:
        part = Path(folder) / "content"
        yield part
        path.write_bytes(part.read_bytes())


def now() -> str:
    """The current time in UTC, such as 2026-11-21T05:00:00Z."""
    return in_utc(datetime.now(timezone.utc))


def in_utc(moment: datetime) -> str:
    """A time with a time zone, in UTC, in the stored format."""
    return moment.astimezone(timezone.utc).strftime(UTC_FORMAT)


def to_json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=1, default=str, ensure_ascii=False) + "\n"


def shown_json(text: str) -> str:
    """JSON whose strings, when they are shown, give a terminal no orders: escape characters and
    their kin are \ufffd. Ends of lines and tabs stay."""
    return _ORDER.sub(r"\1\\ufffd", text)


def append_whole(path: Path, data: bytes, mode: int = 0o666) -> int:
    """Appends data and returns the offset at which it starts; on failure removes a partial write.
    `mode`: that of a new file, to which the umask applies."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, mode)
    try:
        start = os.fstat(handle).st_size
        _write_all(handle, data, start)
        return start
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes, start: int) -> None:
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(handle, rest) :]
    except OSError:
        with suppress(OSError):
            os.ftruncate(handle, start)
        raise
