# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the libraries that the loader opens for a program, and the reasons for the choice.

The rules are those of glibc: first what is already loaded; then RPATH of the object that needs it
and of those above, LD_LIBRARY_PATH, RUNPATH, the cache of ldconfig, and the usual folders.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from mpigauge.site.mpi.programs.elf import DamagedError, Elf, read_elf

ROOT = Path("/")
CACHE = "etc/ld.so.cache"
_CACHE_MARK = b"glibc-ld.so.cache1.1"
_HEADER, _ENTRY = 48, 24
USUAL = ("lib64", "usr/lib64", "lib", "usr/lib")
TRIPLETS = {"x86-64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}
BY_CACHE = "the cache of ldconfig"
BY_FOLDER = "the usual folders"
BY_PRELOAD = "LD_PRELOAD"
BY_PATH = "LD_LIBRARY_PATH"


@dataclass(frozen=True)
class LoadedLibrary:
    """A library that a program needs, directly or through another one."""

    name: str
    """The name by which it is needed."""
    by: str
    """The path of the first object that needs it: the program or a library."""
    path: Path | None = None
    """The path; None: it is missing."""
    through: str = ""
    """The search path with which it was found, in words."""
    elf: Elf | None = field(default=None, hash=False)


@dataclass(frozen=True)
class NeedingObject:
    path: Path
    elf: Elf
    above: NeedingObject | None
    """The object that needed it first."""


@dataclass(frozen=True)
class Loader:
    env: Mapping[str, str] = field(hash=False)
    root: Path = ROOT
    """The root folder, other than `/` in tests."""
    secure: bool = False
    """True if LD_LIBRARY_PATH is ignored: the program gets rights that we do not have."""

    def libraries(self, program: Path, elf: Elf) -> tuple[LoadedLibrary, ...]:
        """Returns all libraries that are loaded before the program begins, in that order."""
        by_name: dict[str, LoadedLibrary] = {}
        queue = [NeedingObject(program, elf, None)]
        requests = [(name, queue[0], BY_PRELOAD) for name in self.preloaded]
        while queue:
            current = queue.pop(0)
            requests += [(name, current, "") for name in current.elf.needed]
            for name, asker, why in requests:
                if name in by_name:
                    continue
                loaded = self.find(name, asker, why)
                by_name[name] = loaded
                if loaded.elf is not None and loaded.path is not None:
                    by_name.setdefault(loaded.elf.soname or name, loaded)
                    queue.append(NeedingObject(loaded.path, loaded.elf, asker))
            requests = []
        return tuple({id(each): each for each in by_name.values()}.values())

    @property
    def preloaded(self) -> tuple[str, ...]:
        if self.secure:
            return ()
        return tuple(self.env.get(BY_PRELOAD, "").replace(":", " ").split())

    def find(self, name: str, asker: NeedingObject, why: str = "") -> LoadedLibrary:
        by = str(asker.path)
        for path, through in self.places(name, asker):
            elf = self.fitting(path, asker.elf)
            if elf is not None:
                return LoadedLibrary(name, by, path, why or through, elf)
        return LoadedLibrary(name, by)

    def places(self, name: str, asker: NeedingObject) -> Iterator[tuple[Path, str]]:
        if "/" in name:
            yield self.below(name), "its path"
            return
        if not asker.elf.runpath:
            yield from self.in_rpaths(name, asker)
        if not self.secure:
            for folder in self.folders(self.env.get(BY_PATH, ""), asker):
                yield folder / name, BY_PATH
        for text in asker.elf.runpath:
            for folder in self.folders(text, asker):
                yield folder / name, f"RUNPATH {text}"
        yield from ((self.below(path), BY_CACHE) for path in self.cache.get(name, ()))
        for usual in self.usual(asker.elf):
            yield usual / name, BY_FOLDER

    def in_rpaths(self, name: str, asker: NeedingObject) -> Iterator[tuple[Path, str]]:
        """Yields paths in the RPATH of an object and of those above, unless they have a RUNPATH."""
        current: NeedingObject | None = asker
        while current is not None:
            if not current.elf.runpath:
                for text in current.elf.rpath:
                    for folder in self.folders(text, current):
                        yield folder / name, f"RPATH {text}"
            current = current.above

    def folders(self, text: str, asker: NeedingObject) -> Iterator[Path]:
        """Yields the folders of a list, with the loader's values of ORIGIN, LIB and PLATFORM."""
        lib = "lib64" if asker.elf.bits == 64 else "lib"
        triplet = TRIPLETS.get(asker.elf.machine)
        libs = [f"lib/{triplet}", lib] if triplet else [lib]
        for folder in filter(None, text.replace(";", ":").split(":")):
            for each in dict.fromkeys(_filled(folder, "LIB", one) for one in libs):
                whole = _filled(each, "ORIGIN", str(asker.path.resolve().parent))
                yield self.below(whole) if "ORIGIN" not in folder else Path(whole)

    def usual(self, elf: Elf) -> Iterator[Path]:
        if triplet := TRIPLETS.get(elf.machine):
            yield self.root / "lib" / triplet
            yield self.root / "usr/lib" / triplet
        yield from (self.root / folder for folder in USUAL)

    def below(self, path: str) -> Path:
        if path.startswith("/"):
            return self.root / path.lstrip("/")
        return Path(path)

    def fitting(self, path: Path, program: Elf) -> Elf | None:
        """Returns the library if it is for the same machine; None: the loader skips it."""
        try:
            elf = read_elf(path)
        except (OSError, DamagedError):
            return None
        if elf.runs_with(program):
            return elf
        return None

    @cached_property
    def cache(self) -> Mapping[str, tuple[str, ...]]:
        """The paths in ldconfig's cache, by name; empty if there is no cache."""
        try:
            data = (self.root / CACHE).read_bytes()
        except OSError:
            return {}
        return read_cache(data)


def read_cache(data: bytes) -> dict[str, tuple[str, ...]]:
    """Returns the paths in a cache of ldconfig, by name; empty if it has another format."""
    start = data.find(_CACHE_MARK)
    if start < 0:
        return {}
    by_name: dict[str, tuple[str, ...]] = {}
    try:
        count = struct.unpack_from("=I", data, start + 20)[0]
        for number in range(count):
            place = start + _HEADER + number * _ENTRY
            _, name, path = struct.unpack_from("=iII", data, place)
            key = _text(data, start + name)
            by_name[key] = (*by_name.get(key, ()), _text(data, start + path))
    except struct.error:
        return {}
    return by_name


def _text(data: bytes, offset: int) -> str:
    return data[offset : data.find(b"\0", offset)].decode("utf-8", "surrogateescape")


def _filled(text: str, token: str, value: str) -> str:
    return text.replace(f"${{{token}}}", value).replace(f"${token}", value)
