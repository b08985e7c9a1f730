# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Small libraries of one source file: shipped with mpigauge, or built once into the cache."""

from __future__ import annotations

import hashlib
import os
import shlex
from pathlib import Path

from mpigauge.site.builds import kernel_places
from mpigauge.site.builds.cxx import compiler_words
from mpigauge.site.builds.folders import say_nothing
from mpigauge.site.builds.once import Commands, LibraryBuild, built_once

FLAGS = ("-shared", "-fPIC", "-O2", "-std=c++17", "-fvisibility=hidden")


def digest_of(name: str, source: str) -> str:
    return hashlib.sha256(repr((name, source)).encode()).hexdigest()[:12]


def small_library(name: str, source: str, what: str) -> Path:
    """Returns the library of this name (and soname): shipped, from the cache or built now. `what`:
    its name in messages. UserError: its build fails."""

    def commands(work: Path) -> Commands:
        (work / "source.cpp").write_text(source, encoding="utf-8")
        flags = shlex.split(os.environ.get("CXXFLAGS", ""))
        named = f"-Wl,-soname,{name}"
        return [[*compiler_words(what), *flags, *FLAGS, named, "-o", name, "source.cpp", "-ldl"]]

    digest = digest_of(name, source)
    if (ready := kernel_places.shipped(f"programs/{digest}/{name}")) is not None:
        return ready
    return built_once(LibraryBuild(what, "programs", digest, name, commands), say_nothing)
