# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A run as one small file: a ZIP of its folder, which other programs can open, too.

It is ZIP, not tar: members have neither owners nor links, and their sizes are known before anything
is written.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from stat import S_ISLNK
from typing import IO, TYPE_CHECKING, NamedTuple
from uuid import uuid4

from mpigauge.model.errors import UserError
from mpigauge.model.secrets import masked_json, masked_script
from mpigauge.runs.store.anonymize import Anonymizer, bytes_without
from mpigauge.runs.store.files import failing_as, to_json, whole
from mpigauge.runs.store.names import names_in
from mpigauge.runs.store.reader import check_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SUFFIX = ".mpigauge"
MOST_BYTES = 8 << 30
_SMALL = 256 << 20
_MOST_GROWTH = 100
"""The largest factor of compression: no run reaches it, so a pack beyond it is refused."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST_FILES = 100_000
_OURS = re.compile(
    r"(run|passport|cards|history|status)\.json$|records\.jsonl$|(samples|progress|logs|profile)/[a-z]+-\d+[\w.-]*$"
)
"""File names that every run has, which stay even if a host or user has such a name."""
_FIRST = "run.json"
_ALWAYS_THE_SAME = (1980, 1, 1, 0, 0, 0)
_CHUNK = 1 << 20
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
)
"""Errors that zipfile raises for a file that is damaged or not an archive."""


class Packed(NamedTuple):
    file: Path
    taken: Mapping[str, int]
    """The number of replaced hosts (node), users (user), …"""
    left_out: tuple[str, ...]
    """A sentence for each file that could not be read."""


def pack(folder: Path, file: Path | None = None, anonymous: bool = False) -> Packed:
    """Packs a run into `file`, or into NAME.mpigauge in the current folder.

    UserError: it is not a run, or the file cannot be written.
    """
    check_schema(folder)
    name = in_utf_8(folder.absolute().name)
    anonymizer = Anonymizer(names_in(folder)) if anonymous else None
    if anonymizer:
        name = anonymizer.text(name)
    target = file or Path(name + SUFFIX)
    if target.exists() and not target.is_file():
        raise UserError(f"{target} is not a file; name a new one with --output")
    left_out: list[str] = []
    with failing_as(UserError, target), whole(target) as part, zipfile.ZipFile(part, "w") as made:
        for inside, content in _contents(folder, left_out):
            path = anonymizer.text(inside) if anonymizer and not _OURS.match(inside) else inside
            data = _without_names(anonymizer, inside, content)
            made.writestr(_member(f"{name}/{path}"), data, compresslevel=9)
    return Packed(target, anonymizer.taken() if anonymizer else {}, tuple(left_out))


def in_utf_8(name: str) -> str:
    """A name that a ZIP can hold and any machine can read, without control characters."""
    text = name.encode("utf-8", "backslashreplace").decode().replace("\\", "_")
    return "".join(letter if letter.isprintable() else "_" for letter in text)


def is_pack(path: Path) -> bool:
    """True if the contents show that `pack` wrote this file."""
    if not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as packed:
            return PurePosixPath(packed.namelist()[0]).name == _FIRST
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError, IndexError):
        return False


def unpack(file: Path, folder: Path) -> Path:
    """Unpacks a run into its own folder below `folder`, completely or not at all; the new path.

    UserError: it is not a pack, is damaged, or would write anything but files below its folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f".unpacked-{uuid4().hex[:12]}"
    try:
        name = _extract(file, made)
        check_schema(made)
        return _named(made, folder, name)
    except OSError as error:
        raise UserError(f"cannot unpack {file} into {folder}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def opened(path: Path) -> Iterator[Path]:
    """Yields the run folder at this path; a pack is unpacked for the duration of the block."""
    if not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="mpigauge-") as folder:
        yield unpack(path, Path(folder))


def _files(folder: Path) -> list[Path]:
    """The files of a run, run.json first: without links and hidden files, which are unfinished."""
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and not path.name.startswith(".")
    ]
    return sorted(files, key=lambda path: path != folder / _FIRST)


def _contents(folder: Path, left_out: list[str]) -> Iterator[tuple[str, bytes]]:
    """The relative names and the contents of the files."""
    for path in _files(folder):
        try:
            content = path.read_bytes()
        except OSError as error:
            left_out.append(f"left out: cannot read {path}: {error.strerror}")
            continue
        name = path.relative_to(folder).as_posix()
        yield name, content


def _without_names(anonymizer: Anonymizer | None, name: str, content: bytes) -> bytes:
    if anonymizer:
        return bytes_without(anonymizer, name, content)
    return _without_secrets(name, content)


def _without_secrets(name: str, content: bytes) -> bytes:
    """The content without secrets: runs of older versions hold values of --env that look secret. A
    damaged file stays unchanged."""
    is_json = name == _FIRST or PurePosixPath(name).match("profile/*.json")
    if not is_json and not name.endswith(".command"):
        return content
    try:
        text = content.decode()
        if is_json:
            data = json.loads(text)
            kept = masked_json(data)
            made = text if kept == data else to_json(kept)
        else:
            made = masked_script(text)
    except (ValueError, RecursionError):
        return content
    return made.encode("utf-8", "backslashreplace")


def _member(name: str) -> zipfile.ZipInfo:
    """A member without times and owners: the same run makes the same file."""
    member = zipfile.ZipInfo(name, _ALWAYS_THE_SAME)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o644 << 16
    return member


def _extract(file: Path, folder: Path) -> str:
    """Writes the files of a pack below `folder`; returns the name that the run had."""
    try:
        with zipfile.ZipFile(file) as packed:
            members = [member for member in packed.infolist() if not _is_folder(member)]
            name = _checked(file, members)
            left = _most_bytes(file)
            for member in members:
                path = folder.joinpath(*PurePosixPath(member.filename).parts[1:])
                path.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(member) as content, path.open("xb") as target:
                    left = _copied(content, target, left, file)
    except _DAMAGE as error:
        raise UserError(f"{file} is not a packed run, or damaged: {error}") from None
    return name


def _is_folder(member: zipfile.ZipInfo) -> bool:
    """True for a folder; unlike `is_dir` of some versions of Python, also for a member without a
    name."""
    return member.filename.endswith("/")


def _most_bytes(file: Path) -> int:
    """The most bytes that may be extracted from the file."""
    return min(MOST_BYTES, max(_SMALL, file.stat().st_size * _MOST_GROWTH))


def _copied(content: IO[bytes], target: IO[bytes], left: int, file: Path) -> int:
    """Copies a member; returns the number of bytes still allowed. UserError: it has more."""
    while piece := content.read(_CHUNK):
        left -= len(piece)
        if left < 0:
            raise UserError(f"{file} is not a packed run: it unpacks to more than it declares")
        target.write(piece)
    return left


def _checked(file: Path, members: list[zipfile.ZipInfo]) -> str:
    """The one folder that holds all members. UserError: the archive is not a safe pack."""
    for member in members:
        parts = PurePosixPath(member.filename).parts
        bad = len(parts) < 2 or ".." in parts or parts[0][0] in "/." or "\\" in member.filename
        if bad or S_ISLNK(member.external_attr >> 16):
            raise UserError(f"{file} is not a packed run: it holds {member.filename!r}")
    if any(not member.filename.isprintable() for member in members):
        raise UserError(f"{file} is not a packed run: names in it hold control characters")
    names = {PurePosixPath(member.filename).parts[0] for member in members}
    if len(names) != 1 or f"{next(iter(names))}/{_FIRST}" not in {m.filename for m in members}:
        raise UserError(f"{file} is not a packed run: it does not hold one folder with {_FIRST}")
    if any(member.compress_type not in _METHODS for member in members):
        raise UserError(f"{file} is not a packed run: it is packed by another method than ours")
    size, most = sum(member.file_size for member in members), _most_bytes(file)
    if size > most or len(members) > MOST_FILES:
        raise UserError(
            f"{file} would become {len(members)} files of {size} bytes together; the most are "
            f"{MOST_FILES} files and, for a pack of its size, {most} bytes"
        )
    return names.pop().lstrip("-") or "run"


def _named(made: Path, folder: Path, name: str) -> Path:
    """Renames the folder to this name, with a number if it is already used; returns its path."""
    for number in range(1, 10_000):
        path = folder / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            continue
        made.rename(path)  # onto the empty folder that is ours
        return path
    raise UserError(f"there are 10000 runs {name} in {folder} already")
