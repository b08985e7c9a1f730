# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Programs whose calls of MPI are known, and jobs of them under the profiler."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from mpigauge.model.mpi import Mpi
from mpigauge.products.profile.launch.library import include, library
from mpigauge.products.profile.read.files import read_folder
from mpigauge.products.profile.read.rank_file import RankFile, Site
from mpigauge.products.profile.read.symbols import resolved
from mpigauge.site.builds.cxx import compiler_words
from mpigauge.site.launch import Job, command
from mpigauge.site.mpi.make import headers
from tests import patience

HERE = Path(__file__).parent


def build(mpi: Mpi, source: str, folder: Path, *more: str) -> Path:
    """A program of this folder, linked to an MPI, built once for all tests of this process."""
    define = ["-DMPIGAUGE_STANDARD_ABI"] if mpi.abi == "std" else []
    words = [*compiler_words("a test"), "-std=c++20", "-O2", "-g", *define, "-pthread"]
    words += ["-isystem", str(headers(mpi)), f"-I{include()}", str(HERE / source), *more]
    words += [str(mpi.library), f"-Wl,-rpath,{mpi.library.parent}", "-Wl,--as-needed"]
    program = folder / Path(source).stem
    shutil.copy(_built(tuple(words)), program)
    return program


@cache
def _built(words: tuple[str, ...]) -> Path:
    folder = Path(mkdtemp(prefix="mpigauge-profiled-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([*words, "-o", str(folder / "program")], check=True)
    return folder / "program"


def build_library(source: str, folder: Path) -> Path:
    """A library of this folder that is linked to no MPI."""
    library = folder / f"{Path(source).stem}.so"
    words = [*compiler_words("a test"), "-shared", "-fPIC", str(HERE / source), "-o", str(library)]
    subprocess.run(words, check=True)
    return library


@dataclass(frozen=True)
class Profiled:
    """What a job left behind."""

    status: int
    output: str
    errors: str
    files: tuple[RankFile, ...]


def profiled(
    mpi: Mpi,
    ranks: int,
    program: Sequence[str | Path],
    folder: Path,
    env: Mapping[str, str] | None = None,
) -> Profiled:
    """Runs a program with the profiler, whose files go to the folder."""
    folder.mkdir(exist_ok=True)
    settings = {"LD_PRELOAD": str(library()), "MPIGAUGE_PROFILE": str(folder), **(env or {})}
    done = started(mpi, ranks, program, settings)
    return Profiled(done.returncode, done.stdout, done.stderr, read_folder(folder))


def started(
    mpi: Mpi, ranks: int, program: Sequence[str | Path], env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program as it is."""
    job = Job(mpi, ranks, tuple(map(str, program)), env=env or {}, oversubscribe=True)
    words = command(job)
    return patience.run(words.words, env={**os.environ, **words.env})


def functions(file: RankFile) -> dict[Site, tuple[str, ...]]:
    """The functions that sites are in, from the innermost on, inlined ones as well."""
    places = resolved(frame for site in file.sites for frame in site.frames)
    return {
        site: tuple(each.function for frame in site.frames for each in places.get(frame, ()))
        for site in file.sites
    }
