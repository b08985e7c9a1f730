# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Builds a library of ours once for each content of its sources and each compiler, and keeps it in
the user's cache. (The kernels have a permanent build folder: see build_folder.py.)"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.builds import folders
from mpigauge.site.builds.cxx import compiler_key, compiler_words

if TYPE_CHECKING:
    from mpigauge.site.builds.folders import Tell

Commands = Sequence[Sequence[str]]


@dataclass(frozen=True)
class LibraryBuild:
    """The recipe of a library."""

    what: str
    """The name of the product in messages: the profiler."""
    place: str
    """The folder below the cache."""
    name: str
    """The digest of the sources, and the target; the compiler's key is added."""
    product: str
    """The file or folder in the workplace that is kept."""
    commands: Callable[[Path], Commands]
    """Fills an empty folder, and returns the commands to run in it. CXX has the compiler."""


def built_once(build: LibraryBuild, tell: Tell, note: str = "") -> Path:
    """Returns the product, from the cache or built now; `note` is reported before a build.

    UserError: there is no compiler, or the build failed.
    """
    compiler = compiler_words(build.what)
    parent = folders.make_folder(folders.cache() / build.place, build.what, "MPIGAUGE_CACHE")
    folder = parent / f"{build.name}-{compiler_key(compiler)}"
    kept = folder / build.product
    if kept.exists():
        return kept
    if note:
        tell(note)
    with folders.locked(parent / f"{folder.name}.lock", tell=tell):
        if not kept.exists():
            _build(build, compiler, kept)
    return kept


def digest_of(source: Path, *more: str) -> str:
    """Returns a digest of the files of this folder, and of other inputs. Subfolders, such as tests,
    and settings of tools, whose names begin with a dot, are not part of the product."""
    digest = hashlib.sha256(repr(more).encode())
    for file in _parts(source):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def _parts(source: Path) -> Iterable[Path]:
    for path in sorted(source.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            yield path


def with_cmake(source: Path, *options: str) -> Callable[[Path], Commands]:
    """Returns the commands that build the project in a folder of sources, on all cores."""

    def commands(work: Path) -> Commands:
        configure = ["cmake", "-S", str(source), "-B", str(work), "-DCMAKE_BUILD_TYPE=Release"]
        workers = str(len(os.sched_getaffinity(0)))
        return [*configure, *options], ["cmake", "--build", str(work), "--parallel", workers]

    return commands


def _build(build: LibraryBuild, compiler: Sequence[str], kept: Path) -> None:
    folder = kept.parent
    log = folder.with_suffix(".log")
    env = {**os.environ, "CXX": shlex.join(compiler)}
    with folders.workplace(folder) as work, log.open("w") as output:
        for words in build.commands(work):
            done = subprocess.run(
                words, cwd=work, env=env, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
            if done.returncode != 0:
                raise UserError(f"building {build.what} failed; the compiler's words are in {log}")
        folder.mkdir(exist_ok=True)
        (work / build.product).rename(kept)
