# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Whether an MPI can run a program as it is, and what stands in the way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.units import many
from mpigauge.site.mpi import layout
from mpigauge.site.mpi.find import STANDARD
from mpigauge.site.mpi.programs import abi
from mpigauge.site.mpi.programs.elf import DamagedError, Elf, read_elf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.mpi import Abi, Mpi
    from mpigauge.site.mpi.programs.loader import LoadedLibrary
    from mpigauge.site.mpi.programs.look import Look

SHOWN = 4
"""Names of a list that are shown, of very many."""
WORDS: dict[Abi, str] = {
    "mpich": "MPICH's ABI",
    "ompi": "Open MPI's ABI",
    "std": "the standard ABI",
}


@dataclass(frozen=True)
class Suits:
    """How one MPI suits a program."""

    label: str
    spec: str
    """What finds it again with --mpi."""
    directly: bool
    """Whether it can take the place of the program's own MPI without a translation."""
    ways: tuple[str, ...]
    """What has to be done for that, or what stands in the way."""


def suits(look: Look, mpi: Mpi) -> Suits:
    """Whether this MPI, with one of its libraries, runs the program that was looked at."""
    for kind in look.abis:
        library = library_of(mpi, kind)
        if library is not None:
            missing = list(_missing(look, library))
            links = list(_links(look, library))
            spec = mpi.spec.removesuffix(STANDARD) + (STANDARD if kind == "std" else "")
            return Suits(mpi.label, spec, not missing, tuple(missing or links))
    made_for = " and ".join(WORDS[kind] for kind in look.abis) or "no MPI that we know"
    return Suits(
        mpi.label, mpi.spec, False, (f"the program is for {made_for}, and it has {_has(mpi)}",)
    )


def library_of(mpi: Mpi, kind: Abi) -> Path | None:
    """The library of this MPI with that ABI."""
    if kind == mpi.abi:
        return mpi.library
    if kind == "std":
        return layout.library(mpi.prefix, mpi.mpiexec, mpi.launcher, standard=True)
    return None


def hindrances(look: Look) -> tuple[str, ...]:
    """What stands in the way of another MPI than the program's own, or of a library of ours."""
    return tuple(_hindrances(look))


def _hindrances(look: Look) -> Iterator[str]:
    if look.secure:
        yield "it runs with another's rights (setuid): the loader heeds no LD_PRELOAD for it"
    if look.static:
        yield "it is statically linked: nothing can be loaded before it"
    elif look.holds_mpi:
        yield "its MPI is a part of the program itself (statically linked): no other can be taken"
    if look.elf and look.elf.rpath and not look.elf.runpath:
        folders = ":".join(look.elf.rpath)
        yield f"it has an RPATH ({folders}), which goes before LD_LIBRARY_PATH"
    if len(look.abis) > 1:
        yield f"it loads two MPIs: {' and '.join(WORDS[kind] for kind in look.abis)}"
    if look.extensions:
        yield f"it calls what only some MPIs have: {_listed(sorted(look.extensions))}"


def _has(mpi: Mpi) -> str:
    standard = mpi.abi != "std" and library_of(mpi, "std") is not None
    return WORDS[mpi.abi] + (f" and {WORDS['std']}" if standard else "")


def _missing(look: Look, library: Path) -> Iterator[str]:
    """What the program takes from MPI and this library has not."""
    own = _elf(library)
    if own is None:
        yield f"{library} cannot be read"
        return
    for each in look.fortran:
        if not (library.parent / each.name).exists():
            yield f"it has no {each.name}, the layer for Fortran"
            return
    layers = [_elf(library.parent / each.name) for each in look.fortran]
    offers = own.offers.union(*(elf.offers for elf in layers if elf))
    calls = {name for name in look.calls | look.extensions if not _is_own(name, look)}
    lacking = sorted((calls | look.data) - offers)
    if lacking:
        yield f"it lacks {many(len(lacking), 'name')} of MPI: {_listed(lacking)}"


def _is_own(name: str, look: Look) -> bool:
    """Whether the program brings it itself, as wrappers do."""
    own = [each.elf for each in look.libraries if each.elf and not abi.family_of(each.name)]
    return any(name in elf.offers for elf in [look.elf, *own] if elf)


def _links(look: Look, library: Path) -> Iterator[str]:
    """Names under which the program asks for what the library has under another."""
    for each in _asked(look):
        if not (library.parent / each.name).exists():
            yield f"by a link {each.name} to its {library.name}"


def _asked(look: Look) -> Iterator[LoadedLibrary]:
    for each in look.mpi_libraries:
        family = abi.family_of(each.name)
        if family is not None and not family.fortran:
            yield each


def _elf(path: Path) -> Elf | None:
    try:
        return read_elf(path)
    except (OSError, DamagedError):
        return None


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
