# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Files of machine code without machine code: what the loader looks at, and nothing else."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

X86_64, AARCH64, I386, S390X = 62, 183, 3, 22
_BASE = 0x400000
_LOAD, _DYNAMIC, _INTERPRETER = 1, 2, 3
_NEEDED, _HASH, _STRTAB, _SYMTAB, _SONAME, _RPATH, _RUNPATH = 1, 4, 5, 6, 14, 15, 29
LOADER = "/lib64/ld-linux-x86-64.so.2"


@dataclass(frozen=True)
class Made:
    """What is to be in a file."""

    needed: Sequence[str] = ()
    soname: str = ""
    rpath: str = ""
    runpath: str = ""
    wants: Sequence[str] = ()
    offers: Sequence[str] = ()
    linked: Sequence[str] = ()
    """Names in the table that a debugger reads, which a tool may cut away."""
    dynamic: bool = True
    interpreter: str = LOADER
    machine: int = X86_64
    wide: bool = True
    little: bool = True

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.content())
        path.chmod(0o755)
        return path

    def pack(self, form: str, *values: int) -> bytes:
        return struct.pack(("<" if self.little else ">") + form, *values)

    @property
    def word(self) -> str:
        return "Q" if self.wide else "I"

    def content(self) -> bytes:
        header, segment = (64, 56) if self.wide else (52, 32)
        count = (3 if self.dynamic else 1) if self.interpreter else (2 if self.dynamic else 1)
        body = header + segment * count
        texts = _Texts()
        tags = self._tags(texts)
        symbols = self._symbols(texts)
        hashes = self.pack("II", 1, len(symbols) // (24 if self.wide else 16)) + bytes(
            4 * (1 + len(symbols))
        )
        strings = texts.data
        place = {"names": body, "symbols": body + len(strings)}
        place["hash"] = place["symbols"] + len(symbols)
        place["dynamic"] = place["hash"] + len(hashes)
        tags += [
            (_STRTAB, _BASE + place["names"]),
            (_SYMTAB, _BASE + place["symbols"]),
            (_HASH, _BASE + place["hash"]),
            (0, 0),
        ]
        dynamic = b"".join(self.pack(self.word * 2, *tag) for tag in tags)
        interpreter = self.interpreter.encode() + b"\0"
        linked = b"\0" + b"".join(name.encode() + b"\0" for name in self.linked)
        end = place["dynamic"] + len(dynamic)
        parts = strings + symbols + hashes + dynamic + interpreter + linked
        sections = self._section(0, 0, 0) + self._section(3, end + len(interpreter), len(linked))
        total = body + len(parts)
        segments = self._segment(_LOAD, 0, total)
        if self.dynamic:
            segments += self._segment(_DYNAMIC, place["dynamic"], len(dynamic))
        if self.interpreter:
            segments += self._segment(_INTERPRETER, end, len(interpreter))
        return self._header(header, segment, count, total) + segments + parts + sections

    def _tags(self, texts: _Texts) -> list[tuple[int, int]]:
        tags = [(_NEEDED, texts.add(name)) for name in self.needed]
        others = ((_SONAME, self.soname), (_RPATH, self.rpath), (_RUNPATH, self.runpath))
        return tags + [(tag, texts.add(text)) for tag, text in others if text]

    def _symbols(self, texts: _Texts) -> bytes:
        named = [("", 0), *((name, 0) for name in self.wants), *((name, 7) for name in self.offers)]
        return b"".join(self._symbol(texts.add(name) if name else 0, home) for name, home in named)

    def _symbol(self, name: int, home: int) -> bytes:
        if self.wide:
            return self.pack("IBBHQQ", name, 0x12, 0, home, 0, 0)
        return self.pack("IIIBBH", name, 0, 0, 0x12, 0, home)

    def _segment(self, kind: int, offset: int, size: int) -> bytes:
        if self.wide:
            return self.pack("IIQQQQQQ", kind, 5, offset, _BASE + offset, 0, size, size, 8)
        return self.pack("IIIIIIII", kind, offset, _BASE + offset, 0, size, size, 5, 4)

    def _section(self, kind: int, offset: int, size: int) -> bytes:
        if self.wide:
            return self.pack("IIQQQQIIQQ", 0, kind, 0, 0, offset, size, 0, 0, 1, 0)
        return self.pack("IIIIIIIIII", 0, kind, 0, 0, offset, size, 0, 0, 1, 0)

    def _header(self, header: int, segment: int, count: int, sections: int) -> bytes:
        kind = bytes([2 if self.wide else 1, 1 if self.little else 2, 1]) + bytes(9)
        section = 64 if self.wide else 40
        return (
            b"\x7fELF"
            + kind
            + self.pack("HHI", 3, self.machine, 1)
            + self.pack(self.word * 3, 0, header, sections)
            + self.pack("IHHHHHH", 0, header, segment, count, section, 2, 0)
        )


class _Texts:
    def __init__(self) -> None:
        self.data = b"\0"

    def add(self, text: str) -> int:
        place = len(self.data)
        self.data += text.encode() + b"\0"
        return place


def cache(libraries: Sequence[tuple[str, str]]) -> bytes:
    """What ldconfig keeps of where libraries are."""
    head, entries = 48, 24 * len(libraries)
    texts = _Texts()
    start = head + entries
    rows = b"".join(
        struct.pack("=iIIIQ", 3, start + texts.add(name), start + texts.add(path), 0, 0)
        for name, path in libraries
    )
    mark = b"glibc-ld.so.cache1.1"
    return (
        mark + struct.pack("=II", len(libraries), len(texts.data)) + bytes(20) + rows + texts.data
    )
