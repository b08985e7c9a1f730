# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The profiler's libraries, for all MPIs: shipped with mpigauge, or built once into the cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.site.builds import folders, kernel_places
from mpigauge.site.builds.once import LibraryBuild, built_once, digest_of, with_cmake
from mpigauge.site.mpi.make import source_folder
from mpigauge.site.mpi.programs.witness import PROFILER

if TYPE_CHECKING:
    from mpigauge.site.builds.folders import Tell

NAME, ARCHIVE = PROFILER, "libmpigauge_profile.a"
WHAT = "the profiler"


def library(tell: Tell = folders.say_nothing) -> Path:
    """Returns the library to preload."""
    return _kept(NAME, (), tell)


def archive(tell: Tell = folders.say_nothing) -> Path:
    """Returns the profiler as an archive, to link to programs that cannot preload a library."""
    return _kept(ARCHIVE, ("-DMPIGAUGE_ARCHIVE=ON",), tell)


def include() -> Path:
    """Returns the folder of files that programs include to name regions: C, Fortran and Python."""
    return source_folder() / "profiler" / "include"


def _kept(name: str, options: tuple[str, ...], tell: Tell) -> Path:
    if (ready := kernel_places.shipped(f"profiler/{name}")) is not None:
        return ready
    source = source_folder() / "profiler"
    build = LibraryBuild(WHAT, "profiler", digest_of(source), name, with_cmake(source, *options))
    return built_once(build, tell, f"building {name}, once")
