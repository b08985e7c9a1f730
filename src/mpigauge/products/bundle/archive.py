# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Writes the content of an archive: the same bytes for the same content."""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import tarfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ENDINGS = (".tar", ".tar.gz", ".tar.xz")
TIME_S = 315532800
"""The time of every file: 1980, the first that all kinds of archives can hold."""


@dataclass(frozen=True)
class File:
    name: str
    """The path below the archive's one folder."""
    content: Path | bytes
    """A file to be copied, with its right to be run, or what is in it."""
    runs: bool = False


@dataclass(frozen=True)
class Link:
    name: str
    target: str
    """The target as it is written in the link."""


Entry = File | Link


def size(entry: Entry) -> int:
    if isinstance(entry, Link):
        return 0
    if isinstance(entry.content, bytes):
        return len(entry.content)
    return entry.content.stat().st_size


def ending(file: Path) -> str:
    """UserError: the name does not say which archive it is to be."""
    for each in ENDINGS:
        if file.name.endswith(each) and file.name != each:
            return each
    raise UserError(f"{file} has none of the endings {', '.join(ENDINGS)}")


def write(file: Path, kind: str, top: str, entries: Iterable[Entry]) -> None:
    """All entries below one folder of this name. `kind`: one of ENDINGS."""
    with _packed(file, kind) as output, _archive(output) as archive:
        for entry in sorted(entries, key=lambda each: each.name):
            _add(archive, f"{top}/{entry.name}", entry)


@contextmanager
def _packed(file: Path, kind: str) -> Iterator[IO[bytes]]:
    """Opens the file; what is written is compressed according to its ending, without a name or
    time."""
    with file.open("wb") as output:
        if kind == ".tar.gz":
            with gzip.GzipFile("", "wb", 6, output, mtime=0) as packed:
                yield cast("IO[bytes]", packed)
        elif kind == ".tar.xz":
            with lzma.LZMAFile(output, "wb") as packed:
                yield packed
        else:
            yield output


def _archive(output: IO[bytes]) -> tarfile.TarFile:
    """An archive in the format that every tar reads, that of BusyBox too."""
    return tarfile.open(fileobj=output, mode="w", format=tarfile.GNU_FORMAT)


def _add(archive: tarfile.TarFile, name: str, entry: Entry) -> None:
    member = tarfile.TarInfo(name)
    member.mtime = TIME_S
    if isinstance(entry, Link):
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, entry.target, 0o777
        archive.addfile(member)
        return
    member.mode = 0o755 if _runs(entry) else 0o644
    member.size = size(entry)
    with _opened(entry) as content:
        archive.addfile(member, content)


def _runs(file: File) -> bool:
    if isinstance(file.content, bytes):
        return file.runs
    return file.runs or bool(file.content.stat().st_mode & stat.S_IXUSR)


def _opened(file: File) -> IO[bytes]:
    if isinstance(file.content, bytes):
        return io.BytesIO(file.content)
    return file.content.open("rb")
