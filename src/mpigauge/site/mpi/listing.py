# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Lists every MPI that is installed here, each once, and the faults of those that do not work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.mpi import layout, sources
from mpigauge.site.mpi.find import asked

if TYPE_CHECKING:
    from mpigauge.model.mpi import Abi, Mpi
    from mpigauge.site.mpi.place import MpiPlace
    from mpigauge.site.mpi.sources import Candidate

# How launchers say what they are; the first that fits counts.
LAUNCHERS = (
    ("intel", r"Intel\(R\) MPI Library.*?Version (?P<version>[\d.]+)"),
    ("openmpi", r"\((?:Open MPI|OpenRTE)\) (?P<version>[\w.]+)"),
    ("mpich", r"HYDRA build details:\s+Version:\s+(?P<version>[\w.]+)"),
)


@dataclass(frozen=True)
class LauncherIs:
    family: str
    """The family: intel, openmpi or mpich; empty: unknown."""
    version: str

    @property
    def label(self) -> str:
        return f"{self.family} {self.version}".strip()


@dataclass(frozen=True)
class ListedMpi:
    mpi: Mpi
    abis: tuple[Abi, ...]
    """Its own ABI, and the standard one if it has a library for that (--mpi MPI@std)."""
    launcher: LauncherIs
    remarks: tuple[str, ...]
    """Reasons to doubt that it works."""


@dataclass(frozen=True)
class Listing:
    listed: tuple[ListedMpi, ...]
    problems: tuple[str, ...]
    """A sentence for each place without a working MPI."""


def everything(prefixes: Iterable[Path] = (), scripts: Iterable[Path] = ()) -> Listing:
    """Returns all MPIs of all sources, and of these prefixes and scripts."""
    problems: list[str] = []
    places: dict[tuple[Path, str], MpiPlace] = {}
    for candidate in _candidates(prefixes, scripts, problems):
        try:
            _note(places, candidate())
        except UserError as error:
            problems.append(str(error))
    listed = []
    for place in places.values():
        try:
            listed.append(looked_at(asked(place)))
        except UserError as error:
            problems.append(str(error))
    return Listing(tuple(listed), tuple(dict.fromkeys(problems)))


def looked_at(mpi: Mpi) -> ListedMpi:
    launcher = launcher_is(layout.launcher_words(mpi.mpiexec, mpi.env))
    standard = layout.library(mpi.prefix, mpi.mpiexec, mpi.launcher, standard=True)
    abis: tuple[Abi, ...] = (mpi.abi, "std") if standard else (mpi.abi,)
    return ListedMpi(mpi, abis, launcher, tuple(_remarks(mpi, launcher)))


def launcher_is(words: str) -> LauncherIs:
    for family, pattern in LAUNCHERS:
        if match := re.search(pattern, words):
            return LauncherIs(family, match["version"])
    return LauncherIs("", "")


def _candidates(
    prefixes: Iterable[Path], scripts: Iterable[Path], problems: list[str]
) -> Iterator[Candidate]:
    """Yields candidates. A source that fails, such as a hanging module command, is a problem."""
    named = (lambda: sources.after(scripts), lambda: sources.below(prefixes))
    for source in (*sources.SOURCES, *named):
        try:
            yield from source()
        except UserError as error:
            problems.append(str(error))


def _note(places: dict[tuple[Path, str], MpiPlace], place: MpiPlace) -> None:
    """Records a place. Two places with one launcher and environment are one MPI."""
    changed = place.again if ":" in place.again else ""
    key = (place.mpiexec.resolve(), changed)
    earlier = places.setdefault(key, place)
    if place.origin not in earlier.origin:
        places[key] = replace(earlier, origin=f"{earlier.origin}; {place.origin}")


def _remarks(mpi: Mpi, launcher: LauncherIs) -> Iterator[str]:
    """Yields a remark unless launcher and library are of one family and version."""
    if launcher.family == mpi.name:
        apart = not _same(launcher.version, mpi.version)
    else:
        apart = bool(launcher.family) and mpi.name in ("intel", "openmpi")
    if apart:
        yield (
            f"the launcher {mpi.mpiexec} is of {launcher.label}, the library {mpi.library} is "
            f"{mpi.label}: they may not belong together"
        )


def _same(one: str, other: str) -> bool:
    """True if the first two numbers of two versions are equal."""
    return re.findall(r"\d+", one)[:2] == re.findall(r"\d+", other)[:2]
