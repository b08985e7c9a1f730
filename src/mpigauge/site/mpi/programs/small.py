# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Builds small libraries of one source file, once, and keeps them in the user's cache."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
from pathlib import Path

from mpigauge.model.errors import UserError
from mpigauge.site.mpi import folders
from mpigauge.site.mpi.cxx import compiler_key, compiler_words

FLAGS = ("-shared", "-fPIC", "-O2", "-std=c++17", "-fvisibility=hidden")


def small_library(name: str, source: str, what: str) -> Path:
    """The library of this name (and soname), from the cache or built now. UserError: it cannot be
    built; `what` it is in words."""
    compiler = compiler_words(what)
    parent = folders.make_folder(folders.cache() / "programs", what, "MPIGAUGE_CACHE")
    digest = hashlib.sha256(repr((name, source)).encode()).hexdigest()[:12]
    file = parent / f"{digest}-{compiler_key(compiler)}" / name
    if not file.exists():
        with folders.locked(parent / f"{file.parent.name}.lock"):
            if not file.exists():
                _build(compiler, source, file, what)
    return file


def _build(compiler: tuple[str, ...], source: str, file: Path, what: str) -> None:
    log = file.parent.with_suffix(".log")
    with folders.workplace(file.parent) as work, log.open("w") as output:
        (work / "source.cpp").write_text(source, encoding="utf-8")
        flags = shlex.split(os.environ.get("CXXFLAGS", ""))
        named = f"-Wl,-soname,{file.name}"
        words = [*compiler, *flags, *FLAGS, named, "-o", file.name, "source.cpp", "-ldl"]
        done = subprocess.run(
            words, cwd=work, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
        )
        if done.returncode != 0:
            raise UserError(f"building {what} failed; the compiler's words are in {log}")
        file.parent.mkdir(exist_ok=True)
        (work / file.name).rename(file)
