# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Resolves return addresses to function, file and line, after the run.

Uses addr2line (of binutils) or llvm-symbolizer if installed, as they resolve lines and inlined
functions. Without them symbol tables give functions.
"""

from __future__ import annotations

import bisect
import re
import shutil
import struct
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mpigauge.products.profile.read.demangled import demangled
from mpigauge.products.profile.read.rank_file import Module, ReturnAddress

_UNKNOWN = ("", "??")
_PATIENCE_S = 600.0


@dataclass(frozen=True)
class Place:
    """The place of a call in the sources."""

    function: str
    file: str = ""
    """The source file; empty: built without debug information."""
    line: int = 0
    offset: int = 0
    """The offset from the start of the function, if there is no line."""

    @property
    def text(self) -> str:
        if self.file:
            return f"{self.function} at {Path(self.file).name}:{self.line}"
        return f"{self.function}+{self.offset:#x}"


def resolved(frames: Iterable[ReturnAddress]) -> dict[ReturnAddress, tuple[Place, ...]]:
    """Resolves frames to places: several if functions are inlined, innermost first; none if the
    file is gone or has changed."""
    by_module: dict[Module, list[ReturnAddress]] = defaultdict(list)
    places: dict[ReturnAddress, tuple[Place, ...]] = {}
    for frame in dict.fromkeys(frames):
        if frame.module and frame.module.function:
            places[frame] = (Place(frame.module.function, frame.module.path, frame.offset),)
        elif frame.module:
            by_module[frame.module].append(frame)
    for module, there in by_module.items():
        places |= _resolved_in(module, there)
    return places


def _resolved_in(
    module: Module, frames: Sequence[ReturnAddress]
) -> dict[ReturnAddress, tuple[Place, ...]]:
    path = Path(module.path)
    symbols = read_symbols(path)
    if symbols is None or (module.build_id and symbols.build_id != module.build_id):
        return {}
    calls = [frame.offset - 1 for frame in frames]  # the call itself is before its return address
    asked = ask_for_lines(path, calls)
    places = {}
    for frame, call in zip(frames, calls, strict=True):
        plain = symbols.place_of(call)
        several = tuple(place for place in asked.get(call, ()) if place.function)
        if several and (several[0].file or plain is None):
            places[frame] = several
        elif plain:
            places[frame] = (plain,)
    return places


# --- tools of the system -------------------------------------------------------------------


def ask_for_lines(path: Path, addresses: Sequence[int]) -> dict[int, tuple[Place, ...]]:
    """Resolves addresses by addr2line or llvm-symbolizer; empty if neither is installed."""
    words = _tool()
    if not words:
        return {}
    done = subprocess.run(
        [*words, "-e", str(path)],
        input="".join(f"{address:#x}\n" for address in addresses),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_PATIENCE_S,
        check=False,
        start_new_session=True,  # a Ctrl-C of the terminal is not for it
    )
    if done.returncode == 0:
        return parse_lines(done.stdout)
    return {}


def _tool() -> list[str]:
    if tool := shutil.which("addr2line"):
        return [tool, "-a", "-f", "-i", "-C"]
    if tool := shutil.which("llvm-symbolizer"):
        return [tool, "--output-style=GNU", "-a", "-f", "-i", "-C"]
    return []


def parse_lines(text: str) -> dict[int, tuple[Place, ...]]:
    """Parses the places of each address, from text with a line for the address, then two for each
    function."""
    places_by_address: dict[int, list[Place]] = {}
    places: list[Place] = []
    lines = iter(text.splitlines())
    for line in lines:
        if re.fullmatch(r"0x[0-9a-f]+", line):
            places = places_by_address[int(line, 16)] = []
        else:
            places.append(_place(line, next(lines, "")))
    return {address: tuple(each) for address, each in places_by_address.items()}


def _place(function: str, where: str) -> Place:
    name = "" if function in _UNKNOWN else function
    match = re.match(r"(?P<file>.*):(?P<line>\d+)(:\d+)?( \(discriminator \d+\))?$", where)
    if not match or match["file"] in _UNKNOWN or int(match["line"]) == 0:
        return Place(name)
    return Place(name, match["file"], int(match["line"]))


# --- tables of symbols ---------------------------------------------------------------------


@dataclass(frozen=True)
class Symbols:
    """The functions of an ELF file, in the order of their addresses."""

    build_id: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    names: tuple[str, ...]

    def place_of(self, address: int) -> Place | None:
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0 or address >= self.ends[at]:
            return None
        return Place(demangled(self.names[at]), offset=address - self.starts[at])


_SYMBOL = np.dtype(
    [
        *(("name", "u4"), ("info", "u1"), ("other", "u1"), ("section", "u2")),
        *(("value", "u8"), ("size", "u8")),
    ]
)
_TABLE, _NOTE, _DYNAMIC_TABLE = 2, 7, 11
_FUNCTION_TYPES = (2, 10)
_BUILD_ID = 3


def read_symbols(path: Path) -> Symbols | None:
    """Reads the functions of a file; None: it cannot be read, or is not a 64-bit ELF file."""
    try:
        return _Elf(path.read_bytes()).symbols()
    except (OSError, ValueError, struct.error, IndexError, OverflowError, MemoryError):
        return None


class _Elf:
    """A reader of the parts of ELF that symbols need."""

    def __init__(self, data: bytes) -> None:
        if data[:5] != b"\x7fELF\x02":
            raise ValueError
        self.data = data

    @cached_property
    def sections(self) -> list[tuple[int, ...]]:
        """The kind, offset, size and link of each section."""
        (start,) = struct.unpack_from("<Q", self.data, 40)
        size, count = struct.unpack_from("<HH", self.data, 58)
        places = range(start, start + size * count, size) if start else ()
        rows = [struct.unpack_from("<IIQQQQII", self.data, place) for place in places]
        return [(kind, offset, length, link) for _, kind, _, _, offset, length, link, _ in rows]

    def symbols(self) -> Symbols:
        functions: Mapping[int, tuple[int, str]] = {}
        for table_kind in (_DYNAMIC_TABLE, _TABLE):  # the second knows more
            for kind, offset, length, link in self.sections:
                if kind == table_kind:
                    functions = {**functions, **self._functions(offset, length, link)}
        starts = sorted(functions)
        ends = tuple(start + functions[start][0] for start in starts)
        names = tuple(functions[start][1] for start in starts)
        return Symbols(self._build_id(), tuple(starts), ends, names)

    def _functions(self, offset: int, length: int, link: int) -> dict[int, tuple[int, str]]:
        table = np.frombuffer(self.data[offset : offset + length], _SYMBOL)
        is_function = np.isin(table["info"] & 15, _FUNCTION_TYPES) & (table["size"] > 0)
        strings = self.sections[link][1]
        functions: dict[int, tuple[int, str]] = {}
        for row in table[is_function]:
            functions[int(row["value"])] = (
                int(row["size"]),
                self._text(strings + int(row["name"])),
            )
        return functions

    def _text(self, at: int) -> str:
        return self.data[at : self.data.index(b"\0", at)].decode("utf-8", "replace")

    def _build_id(self) -> str:
        for kind, offset, length, _ in self.sections:
            if kind != _NOTE:
                continue
            name, content, what = struct.unpack_from("<III", self.data, offset)
            start = offset + 12 + (name + 3) // 4 * 4
            if what == _BUILD_ID and start + content <= offset + length:
                return self.data[start : start + content].hex()
        return ""
