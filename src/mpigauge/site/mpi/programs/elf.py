# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Reads files of machine code (ELF), as far as the loader uses them.

See docs/decisions/elf.md for why this is our own.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

MAGIC = b"\x7fELF"
MACHINES = {
    3: "i386",
    20: "ppc",
    21: "ppc64",
    22: "s390x",
    40: "arm",
    62: "x86-64",
    183: "aarch64",
    243: "riscv",
    258: "loongarch",
}
_LOAD, _DYNAMIC, _INTERPRETER, _NOTE = 1, 2, 3, 4
_OF_PROFILER = b"mpigauge\0"
"""The name in the note of a program that is linked to the profiler: profiler/linked.cpp."""
_STRTAB_SECTION, _DYNSYM_SECTION = 3, 11
_NEEDED, _HASH, _STRTAB, _SYMTAB, _SONAME, _RPATH, _RUNPATH = 1, 4, 5, 6, 14, 15, 29
_GNU_HASH = 0x6FFFFEF5


class DamagedError(ValueError):
    """A file that begins like machine code, but is none."""


@dataclass(frozen=True)
class Elf:
    machine: str
    bits: int
    little: bool
    interpreter: str = ""
    """The loader's path; empty for a library."""
    dynamic: bool = False
    """True if libraries are loaded for it."""
    soname: str = ""
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    """Folders searched before LD_LIBRARY_PATH; without effect if there is a RUNPATH."""
    runpath: tuple[str, ...] = ()
    """Folders searched after LD_LIBRARY_PATH."""
    wants: frozenset[str] = frozenset()
    """Names that it imports."""
    offers: frozenset[str] = frozenset()
    """Names that it exports."""
    holds_mpi: bool = False
    """True if MPI_Init is among the names that it was linked with, defined or undefined."""
    holds_profiler: bool = False
    """True if libmpigauge_profile.a was linked into it."""

    def runs_with(self, other: Elf) -> bool:
        """True if both are for one machine, so that a process can hold both."""
        return (self.machine, self.bits, self.little) == (other.machine, other.bits, other.little)


class _Section(NamedTuple):
    kind: int
    offset: int
    size: int
    link: int


def is_elf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == MAGIC
    except OSError:
        return False


def read_elf(path: Path) -> Elf:
    """Reads the header and symbols of a file. OSError: it is not readable. DamagedError: it is not
    a complete file of machine code."""
    with path.open("rb") as file:
        try:
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise DamagedError("it is empty") from None
        with whole:
            return parse(whole)


def parse(data: bytes | mmap.mmap) -> Elf:
    """Parses the content of an ELF file. DamagedError: it is not a complete one."""
    if data[:4] != MAGIC:
        raise DamagedError("it does not begin as machine code does")
    try:
        return _Reader(data).elf()
    except (struct.error, LookupError, ValueError, OverflowError, MemoryError) as error:
        raise DamagedError(f"it is damaged: {error}") from None


class _Reader:
    """Reads the numbers of a file in the byte order of its machine."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        self.data = data
        self.wide = data[4] == 2
        self.little = data[5] == 1
        self.order = "<" if self.little else ">"
        self.word = "Q" if self.wide else "I"
        machine = self.at(18, "H")[0]
        self.machine = MACHINES.get(machine, f"machine {machine}")
        self.loads: list[tuple[int, int, int]] = []
        self.dynamic: dict[int, list[int]] = {}
        self.interpreter = ""
        self.holds_profiler = False

    def at(self, place: int, form: str) -> tuple[int, ...]:
        return struct.unpack_from(self.order + form, self.data, place)

    def elf(self) -> Elf:
        self.read_segments()
        names = self.dynamic.get(_STRTAB, [0])[0]
        sections = self.sections()
        wants, offers = self.symbols(sections)
        return Elf(
            machine=self.machine,
            bits=64 if self.wide else 32,
            little=self.little,
            interpreter=self.interpreter,
            dynamic=bool(self.dynamic),
            soname="".join(self.texts(_SONAME, names)),
            needed=tuple(self.texts(_NEEDED, names)),
            rpath=self.folders(_RPATH, names),
            runpath=self.folders(_RUNPATH, names),
            wants=wants,
            offers=offers,
            holds_mpi=any(self.holds(each, b"\0MPI_Init\0") for each in sections),
            holds_profiler=self.holds_profiler,
        )

    def read_segments(self) -> None:
        start, size, count = self.segment_table()
        for place in range(start, start + size * count, size):
            kind = self.at(place, "I")[0]
            offset, address, length = self.segment(place)
            if kind == _LOAD:
                self.loads.append((address, offset, length))
            elif kind == _INTERPRETER:
                self.interpreter = self.text(offset)
            elif kind == _DYNAMIC:
                self.read_dynamic(offset, length)
            elif kind == _NOTE and self.data.find(_OF_PROFILER, offset, offset + length) >= 0:
                self.holds_profiler = True

    def segment_table(self) -> tuple[int, int, int]:
        start = self.at(32 if self.wide else 28, self.word)[0]
        size, count = self.at(54 if self.wide else 42, "HH")
        return start, size, count

    def segment(self, place: int) -> tuple[int, int, int]:
        if self.wide:
            offset, address, _, length = self.at(place + 8, "QQQQ")
        else:
            offset, address, _, length = self.at(place + 4, "IIII")
        return offset, address, length

    def read_dynamic(self, offset: int, length: int) -> None:
        step = 16 if self.wide else 8
        for place in range(offset, offset + length, step):
            tag, value = self.at(place, self.word * 2)
            if tag == 0:
                break
            self.dynamic.setdefault(tag, []).append(value)

    def offset_of(self, address: int) -> int:
        """Returns the offset in the file of this address."""
        for start, offset, length in self.loads:
            if start <= address < start + length:
                return address - start + offset
        raise IndexError(f"nothing is at address {address:#x}")

    def text(self, offset: int) -> str:
        end = self.data.find(b"\0", offset)
        if end < 0:
            raise IndexError(f"the text at {offset:#x} has no end")
        return self.data[offset:end].decode("utf-8", "surrogateescape")

    def texts(self, tag: int, names: int) -> list[str]:
        return [self.text(self.offset_of(names + value)) for value in self.dynamic.get(tag, [])]

    def folders(self, tag: int, names: int) -> tuple[str, ...]:
        paths = []
        for text in self.texts(tag, names):
            for folder in text.split(":"):
                if folder:
                    paths.append(folder)
        return tuple(paths)

    def sections(self) -> list[_Section]:
        """Returns the sections; empty if a tool has stripped their table."""
        start = self.at(40 if self.wide else 32, self.word)[0]
        size, count = self.at(58 if self.wide else 46, "HH")
        if not start:
            return []
        form, skip = ("QQI", 24) if self.wide else ("III", 16)
        table = []
        for place in range(start, start + size * count, size):
            kind = self.at(place + 4, "I")[0]
            table.append(_Section(kind, *self.at(place + skip, form)))
        return table

    def holds(self, section: _Section, word: bytes) -> bool:
        end = section.offset + section.size
        return section.kind == _STRTAB_SECTION and self.data.find(word, section.offset, end) >= 0

    def symbols(self, sections: list[_Section]) -> tuple[frozenset[str], frozenset[str]]:
        """Returns the imported names, and the exported ones."""
        if _SYMTAB not in self.dynamic:
            return frozenset(), frozenset()
        table = self.offset_of(self.dynamic[_SYMTAB][0])
        names = self.offset_of(self.dynamic[_STRTAB][0])
        size = 24 if self.wide else 16
        form = self.order + ("IBBHQQ" if self.wide else "IIIBBH")
        place_of_home = 3 if self.wide else 5
        content = self.data[table : table + size * self.symbol_count(sections)]
        wants: set[str] = set()
        offers: set[str] = set()
        for symbol in struct.iter_unpack(form, content[: len(content) // size * size]):
            if symbol[0]:
                (offers if symbol[place_of_home] else wants).add(self.text(names + symbol[0]))
        return frozenset(wants), frozenset(offers)

    def symbol_count(self, sections: list[_Section]) -> int:
        """Returns the number of symbols, by the table of sections, else by the hash tables."""
        size = 24 if self.wide else 16
        for section in sections:
            if section.kind == _DYNSYM_SECTION:
                return section.size // size
        if _HASH in self.dynamic:
            return self.at(self.offset_of(self.dynamic[_HASH][0]) + 4, "I")[0]
        return self.gnu_count(self.offset_of(self.dynamic[_GNU_HASH][0]))

    def gnu_count(self, table: int) -> int:
        """Returns the number of symbols by the GNU hash table: the last chain ends with the last
        symbol, whose lowest bit is set."""
        buckets, first, words, _ = self.at(table, "IIII")
        start = table + 16 + words * (8 if self.wide else 4)
        last = max(self.at(start, f"{buckets}I"), default=0)
        if last < first:
            return first
        chains = start + 4 * buckets
        while not self.at(chains + 4 * (last - first), "I")[0] & 1:
            last += 1
        return last + 1
