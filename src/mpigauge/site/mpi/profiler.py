# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Builds the profiler's libraries, once, and keeps them in the cache. They serve all MPIs."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.mpi import folders
from mpigauge.site.mpi.build import source_folder
from mpigauge.site.mpi.cxx import compiler_key, compiler_words

if TYPE_CHECKING:
    from mpigauge.site.mpi.folders import Tell

NAME, ARCHIVE = "libmpigauge_profile.so", "libmpigauge_profile.a"
WHAT = "the profiler"


def library(tell: Tell = folders.say_nothing) -> Path:
    """The library to preload: from the cache, or built now."""
    return _kept(NAME, (), tell)


def archive(tell: Tell = folders.say_nothing) -> Path:
    """The same to be linked to programs that nothing can be preloaded into."""
    return _kept(ARCHIVE, ("-DMPIGAUGE_ARCHIVE=ON",), tell)


def include() -> Path:
    """The folder with what programs include that name regions: of C, Fortran and Python."""
    return source_folder() / "profiler" / "include"


def _kept(name: str, options: tuple[str, ...], tell: Tell) -> Path:
    source = source_folder() / "profiler"
    compiler = compiler_words(WHAT)
    parent = folders.make_folder(folders.cache() / "profiler", WHAT, "MPIGAUGE_CACHE")
    file = parent / f"{_hash_of(source)}-{compiler_key(compiler)}" / name
    if not file.exists():
        tell(f"building {name}, once")
        with folders.locked(parent / f"{file.parent.name}.lock"):
            if not file.exists():
                _build(source, compiler, file, options)
    return file


def _hash_of(source: Path) -> str:
    """Of all that it is made of, but for its tests, and for what only programs include."""
    digest = hashlib.sha256()
    for file in sorted(path for path in source.iterdir() if path.is_file()):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _build(source: Path, compiler: tuple[str, ...], file: Path, options: tuple[str, ...]) -> None:
    log = file.parent.with_suffix(".log")
    with folders.workplace(file.parent) as work, log.open("w") as output:
        configure = ["cmake", "-S", str(source), "-B", str(work), "-DCMAKE_BUILD_TYPE=Release"]
        workers = str(len(os.sched_getaffinity(0)))
        make = ["cmake", "--build", str(work), "--parallel", workers]
        env = {**os.environ, "CXX": shlex.join(compiler)}
        for words in ([*configure, *options], make):
            _run(words, env, output.fileno(), log)
        file.parent.mkdir(exist_ok=True)
        (work / file.name).rename(file)


def _run(words: list[str], env: dict[str, str], output: int, log: Path) -> None:
    done = subprocess.run(
        words,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != 0:
        raise UserError(f"building {WHAT} failed; the compiler's words are in {log}")
