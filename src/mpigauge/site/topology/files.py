# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The files that describe a machine: below a root, or recorded in one text file.

A record has a line `path<TAB>content` for each file that was read, with line ends as \\n. The size
of a file system is recorded as if it were a file in it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

ROOM = ".room"
"""The name under which a record holds the size of a file system."""
REAL = ".real"
"""The name under which a record holds the real path of a folder, relative to the root."""
_CHOICE = re.compile(r"\[([^\[\]]+)\]")


class Room(NamedTuple):
    total_bytes: int
    free_bytes: int


class Files:
    """Files below a root; None for one that cannot be read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.seen: dict[str, str] = {}

    def text(self, path: str) -> str | None:
        if path in self.seen:
            return self.seen[path]
        try:
            content = (self.root / path).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            return None
        self.seen[path] = content.replace("\0", "").rstrip()
        return self.seen[path]

    def choice(self, path: str) -> str | None:
        """Returns the selected word in a list of choices, such as `always [madvise] never`."""
        match = _CHOICE.search(self.text(path) or "")
        if match:
            return match[1]
        return None

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(entry.name for entry in (self.root / folder).iterdir())
        except OSError:
            return []

    def room(self, folder: str) -> Room | None:
        """Returns the size of the file system at this folder; None if there is no such folder."""
        path = f"{folder}/{ROOM}"
        if (content := self.text(path)) is None and (room := self._room(folder)) is not None:
            content = self.seen[path] = f"{room.total_bytes} {room.free_bytes}"
        if content:
            return Room(*map(int, content.split()))
        return None

    def real(self, folder: str) -> str:
        """Returns the path of this folder without symbolic links, below the root; empty: there is
        no such folder, or a record does not have it."""
        path = f"{folder}/{REAL}"
        if (content := self.text(path)) is None and (real := self._real(folder)):
            content = self.seen[path] = real
        return content or ""

    def _real(self, folder: str) -> str:
        real, root = (self.root / folder).resolve(), self.root.resolve()
        if real.is_dir() and real.is_relative_to(root):
            return str(real.relative_to(root))
        return ""

    def _room(self, folder: str) -> Room | None:
        try:
            about = os.statvfs(self.root / folder)
        except OSError:
            return None
        return Room(about.f_blocks * about.f_frsize, about.f_bavail * about.f_frsize)

    def record(self) -> str:
        """Returns everything read so far, as a text that `Recorded` reads back."""
        return "".join(f"{path}\t{_escaped(text)}\n" for path, text in sorted(self.seen.items()))


class Recorded(Files):
    """Files from a record."""

    def __init__(self, record: str) -> None:
        super().__init__(Path())
        lines = []
        for line in record.splitlines():
            if "\t" in line:
                lines.append(line.split("\t", 1))
        self.files = {path: _unescaped(text) for path, text in lines}

    def text(self, path: str) -> str | None:
        return self.files.get(path)

    def _real(self, folder: str) -> str:
        del folder
        return ""

    def _room(self, folder: str) -> Room | None:
        del folder
        return None

    def names(self, folder: str) -> list[str]:
        start = folder.rstrip("/") + "/"
        below = []
        for path in self.files:
            if path.startswith(start):
                below.append(path[len(start) :])
        return sorted({path.partition("/")[0] for path in below})


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def _unescaped(text: str) -> str:
    out = text.replace("\\\\", "\0").replace("\\t", "\t").replace("\\n", "\n")
    return out.replace("\0", "\\")
