# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which files the loader takes for the libraries that a program needs, and why these.

As glibc's does it: what is loaded already goes before all; then RPATH of whoever needs it and of
those that needed that, LD_LIBRARY_PATH, RUNPATH, the cache of ldconfig, the usual folders.
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
    """A library that a program needs, itself or by another one."""

    name: str
    """As it is asked for."""
    by: str
    """Who asks for it first: the program's path or a library's."""
    path: Path | None = None
    """None: it is found nowhere."""
    through: str = ""
    """By what it was found, in words."""
    elf: Elf | None = field(default=None, hash=False)


@dataclass(frozen=True)
class _Object:
    path: Path
    elf: Elf
    above: _Object | None
    """Whoever needed it first."""


@dataclass(frozen=True)
class Loader:
    env: Mapping[str, str] = field(hash=False)
    root: Path = ROOT
    """Another than `/` for tests."""
    secure: bool = False
    """Whether LD_LIBRARY_PATH counts for nothing: the program gets rights that we have not."""

    def libraries(self, program: Path, elf: Elf) -> tuple[LoadedLibrary, ...]:
        """All libraries that are loaded before the program begins, in the order of the loader."""
        found: dict[str, LoadedLibrary] = {}
        queue = [_Object(program, elf, None)]
        wanted = [(name, queue[0], BY_PRELOAD) for name in self.preloaded]
        while queue:
            current = queue.pop(0)
            wanted += [(name, current, "") for name in current.elf.needed]
            for name, asker, why in wanted:
                if name in found:
                    continue
                loaded = self.find(name, asker, why)
                found[name] = loaded
                if loaded.elf is not None and loaded.path is not None:
                    found.setdefault(loaded.elf.soname or name, loaded)
                    queue.append(_Object(loaded.path, loaded.elf, asker))
            wanted = []
        return tuple({id(each): each for each in found.values()}.values())

    @property
    def preloaded(self) -> tuple[str, ...]:
        if self.secure:
            return ()
        return tuple(self.env.get(BY_PRELOAD, "").replace(":", " ").split())

    def find(self, name: str, asker: _Object, why: str = "") -> LoadedLibrary:
        by = str(asker.path)
        for path, through in self.places(name, asker):
            elf = self.fitting(path, asker.elf)
            if elf is not None:
                return LoadedLibrary(name, by, path, why or through, elf)
        return LoadedLibrary(name, by)

    def places(self, name: str, asker: _Object) -> Iterator[tuple[Path, str]]:
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

    def in_rpaths(self, name: str, asker: _Object) -> Iterator[tuple[Path, str]]:
        """RPATH of the asker and of all above it; those with a RUNPATH have none."""
        current: _Object | None = asker
        while current is not None:
            if not current.elf.runpath:
                for text in current.elf.rpath:
                    for folder in self.folders(text, current):
                        yield folder / name, f"RPATH {text}"
            current = current.above

    def folders(self, text: str, asker: _Object) -> Iterator[Path]:
        """The folders of a list, with what the loader puts for ORIGIN, LIB and PLATFORM."""
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
        """A library for the same machine; others are passed over."""
        try:
            elf = read_elf(path)
        except (OSError, DamagedError):
            return None
        if elf.runs_with(program):
            return elf
        return None

    @cached_property
    def cache(self) -> Mapping[str, tuple[str, ...]]:
        """Paths by names, of what ldconfig has found; nothing where there is no cache."""
        try:
            data = (self.root / CACHE).read_bytes()
        except OSError:
            return {}
        return read_cache(data)


def read_cache(data: bytes) -> dict[str, tuple[str, ...]]:
    """The names of libraries and their paths in a cache of ldconfig; nothing of another format."""
    start = data.find(_CACHE_MARK)
    if start < 0:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    try:
        count = struct.unpack_from("=I", data, start + 20)[0]
        for number in range(count):
            place = start + _HEADER + number * _ENTRY
            _, name, path = struct.unpack_from("=iII", data, place)
            key = _text(data, start + name)
            found[key] = (*found.get(key, ()), _text(data, start + path))
    except struct.error:
        return {}
    return found


def _text(data: bytes, offset: int) -> str:
    return data[offset : data.find(b"\0", offset)].decode("utf-8", "surrogateescape")


def _filled(text: str, token: str, value: str) -> str:
    return text.replace(f"${{{token}}}", value).replace(f"${token}", value)
