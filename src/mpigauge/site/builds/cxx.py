# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The C++ compiler for our own programs."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.builds.remembered import remembered

if TYPE_CHECKING:
    from collections.abc import Sequence

COMPILERS = ("g++", "c++", "clang++")


def compiler_words(what: str) -> tuple[str, ...]:
    """Returns the compiler for a build of `what`. UserError: there is no compiler, or no cmake."""
    named = os.environ.get("CXX") or next(filter(shutil.which, COMPILERS), "")
    words = tuple(shlex.split(named))
    missing = [] if words and shutil.which(words[0]) else ["C++ compiler"]
    missing += [] if shutil.which("cmake") else ["cmake"]
    if missing:
        raise UserError(
            f"no {' and no '.join(missing)} found, needed once to build {what}; "
            "install with `apt-get install g++ cmake`, or on a cluster `module load gcc cmake`"
        )
    return words


def compiler_key(compiler: tuple[str, ...]) -> str:
    """Returns a key that depends on the compiler, its words and flags, the kind of machine and the
    C library, since unlike machines may share a home."""
    flags = os.environ.get("CXXFLAGS", "")
    version = _version_of(compiler).encode("utf-8", "surrogateescape")
    here = (platform.machine(), *platform.libc_ver())
    return hashlib.sha256(version + repr((compiler, flags, here)).encode()).hexdigest()[:8]


def said_by(compiler: Sequence[str]) -> str:
    """Returns the first line of the compiler's version."""
    return (_version_of(tuple(compiler)).strip().splitlines() or [" ".join(compiler)])[0].strip()


def _version_of(words: tuple[str, ...]) -> str:
    """Returns the compiler's output for --version, run once. A script may start a different one
    each time, and ccache under a compiler's name starts the next program of this name on PATH."""
    programs = [program for word in words for program in _all_on_path(word)]
    if any(_is_script(program) for program in programs):
        return _asked_version(words)
    return remembered("compiler", words, programs, lambda: _asked_version(words))


def _all_on_path(word: str) -> list[Path]:
    """Returns every program of this name on PATH, in the order of search."""
    folders_of = os.environ.get("PATH", os.defpath).split(os.pathsep)
    paths = (shutil.which(word, path=folder) for folder in folders_of if folder)
    return [Path(program) for program in dict.fromkeys(paths) if program]


def _is_script(program: Path) -> bool:
    try:
        with program.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return True  # which may be run and not read


def _asked_version(words: tuple[str, ...]) -> str:
    done = subprocess.run(
        [*words, "--version"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.stdout.decode("utf-8", "surrogateescape")
