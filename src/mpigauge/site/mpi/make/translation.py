# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The library through which a program for one ABI of MPI runs on an MPI of another, or a program in
Fortran on an MPI of its own ABI that has no layer for Fortran.

It is shipped with mpigauge, or built once for each pair of ABIs, whatever the MPI, and kept in the
user's cache.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.mpi import Abi
from mpigauge.site.builds import folders, kernel_places
from mpigauge.site.builds.once import LibraryBuild, built_once, digest_of, with_cmake
from mpigauge.site.mpi.make import source_folder

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi
    from mpigauge.site.builds.folders import Tell

WHAT = "the translation between MPIs"
TARGET = "MPIGAUGE_TRANSLATE_TO"
"""The variable with the path of the MPI that the library opens."""
CRAY = ("cray", "gnu", "gnu_91", "gnu_103", "gnu_112", "gnu_123", "intel", "aocc", "nvidia")
NAMES: dict[str, tuple[str, ...]] = {
    "mpich": (
        "libmpi.so.12",
        "libmpich.so.12",
        "libmpifort.so.12",
        "libmpichfort.so.12",
        *(f"libmpi_{name}.so.12" for name in CRAY),
        *(f"libmpifort_{name}.so.12" for name in CRAY),
    ),
    "ompi": (
        "libmpi.so.40",
        "libmpi_mpifh.so.40",
        "libmpi_usempi_ignore_tkr.so.40",
        "libmpi_usempif08.so.40",
        "libopen-rte.so.40",
        "libopen-pal.so.40",
        "libopen-pal.so.80",
    ),
    "std": ("libmpi_abi.so.1", "libmpi_abi.so.0"),
}
"""The names by which programs load their MPI; the first is the library, the others link to it."""


@dataclass(frozen=True)
class Translation:
    """The settings that redirect a program's calls to another MPI."""

    folder: Path
    """The folder that must be first in LD_LIBRARY_PATH."""
    preload: tuple[Path, ...]
    """Libraries for LD_PRELOAD, if the program searches for its MPI elsewhere first (RPATH)."""
    env: Mapping[str, str] = field(hash=False)


def translation(
    program_abi: str,
    target: Mpi,
    tell: Tell = folders.say_nothing,
    needed: Iterable[str] = (),
) -> Translation:
    """Returns the translation from the cache, or built now. `needed`: libraries that the program
    loads; names of an MPI beyond the usual ones are added.

    UserError: there is no such translation, or its build fails.
    """
    abis = get_args(Abi)
    if program_abi not in abis:
        raise UserError(
            f"programs of the ABI '{program_abi}' cannot be translated"
            f"{did_you_mean(program_abi, abis)} (known: {', '.join(abis)})"
        )
    folder = _folder(program_abi, target.abi, tell)
    names = NAMES[program_abi]
    more = [name for name in needed if name not in names and is_name_of_mpi(name)]
    if more and folder.is_relative_to(kernel_places.SHIPPED):
        folder = _linked(folder)
    for name in more:
        _add_name(folder, names[0], name)
    preload = tuple(folder / name for name in names if name in {names[0], *needed})
    return Translation(folder, preload, {TARGET: str(target.library)})


def is_name_of_mpi(name: str) -> bool:
    """True if a library is an MPI, or its layer for Fortran, as Cray's libmpi_gnu_51.so.12."""
    return bool(re.fullmatch(r"libmpi(ch|fort|chfort)?(_\w+)?\.so\.\d+", name))


def _add_name(folder: Path, first: str, name: str) -> None:
    link = folder / name
    if not link.exists():
        other = folder / f".{name}-{os.getpid()}"
        other.symlink_to(first)
        other.rename(link)


def _linked(shipped: Path) -> Path:
    """Returns a folder of the user's with links to these libraries, to which names can be added."""
    key = hashlib.sha256(str(shipped).encode()).hexdigest()[:12]
    cached = folders.cache() / "translation" / f"{shipped.parent.name}-{key}"
    folder = folders.make_folder(cached, WHAT, "MPIGAUGE_CACHE")
    for library in shipped.iterdir():
        _add_name(folder, str(library), library.name)
    return folder


def cmake_options(program_abi: str, target_abi: str) -> tuple[str, ...]:
    return (
        f"-DMPIGAUGE_PROGRAM={program_abi}",
        f"-DMPIGAUGE_TARGET={target_abi}",
        f"-DMPIGAUGE_NAMES={';'.join(NAMES[program_abi])}",
    )


def _folder(program_abi: str, target_abi: str, tell: Tell) -> Path:
    pair = f"{program_abi}-on-{target_abi}"
    if (ready := kernel_places.shipped(f"translation/{pair}/lib")) is not None:
        return ready
    source, names = source_folder() / "translate", NAMES[program_abi]
    commands = with_cmake(source, *cmake_options(program_abi, target_abi))
    name = f"{pair}-{digest_of(source, *names)}"
    build = LibraryBuild(WHAT, "translation", name, "lib", commands)
    note = f"building the translation from {program_abi} to {target_abi}, once"
    return built_once(build, tell, note)
