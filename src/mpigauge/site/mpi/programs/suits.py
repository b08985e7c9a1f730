# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Determines whether an MPI can run a program, directly or translated, and the obstacles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.units import listed, many
from mpigauge.site.mpi import layout
from mpigauge.site.mpi.find import STANDARD
from mpigauge.site.mpi.make.translation import NAMES
from mpigauge.site.mpi.programs import abi
from mpigauge.site.mpi.programs.elf import DamagedError, Elf, read_elf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mpigauge.model.mpi import Abi, Mpi
    from mpigauge.site.mpi.programs.loader import LoadedLibrary
    from mpigauge.site.mpi.programs.look import Look

SHOWN = 4
"""The number of names that are shown of a long list."""
WORDS: dict[Abi, str] = {
    "mpich": "MPICH's ABI",
    "ompi": "Open MPI's ABI",
    "std": "the standard ABI",
}
COMPONENTS = "openmpi/mca_*.so"
"""Components that an Open MPI may have next to its library, and opens by itself."""
INNER = "libopen-"
BY_DESCRIPTOR = ("_f08ts_", "_f08ts_large_")
"""The ends of names of mpi_f08 that take buffers as array descriptors."""
OTHER_BUFFERS = "takes buffers of mpi_f08 in the form of another compiler"
COMPILERS = (
    ("Intel", "libifcore", "__I_MPI_"),
    ("GNU", "libgfortran", "_gfortran_"),
)
"""Fortran compilers: names, runtimes, and the beginnings of names in files that they made."""
"""The beginning of names of libraries that only one version of Open MPI supports."""


@dataclass(frozen=True)
class Suits:
    """The compatibility of one MPI with a program."""

    label: str
    spec: str
    """The value of --mpi that selects it."""
    directly: bool
    """True if it can replace the program's own MPI without a translation."""
    ways: tuple[str, ...]
    """The measures for that, or the obstacles."""
    translated: bool = False
    """True if it runs the program through a translation between ABIs."""
    library: Path | None = None
    """The library that replaces the program's own in direct use."""
    layers: tuple[Path, ...] = ()
    """The layers for Fortran above it."""
    lacking: tuple[str, ...] = ()
    """Functions that the program may call and this library lacks."""

    @property
    def runs(self) -> bool:
        return self.directly or self.translated


def suits(look: Look, mpi: Mpi) -> Suits:
    """Returns whether and how this MPI, with one of its libraries, runs the program."""
    if why := tuple(_impossible(look, mpi)):
        return Suits(mpi.label, mpi.spec, False, why)
    kind = look.abis[0]
    library = library_of(mpi, kind)
    if library is None or deviates(mpi, kind):
        return _translated(look, mpi, kind)
    return _directly(look, mpi, kind, library)


def library_of(mpi: Mpi, kind: Abi) -> Path | None:
    """Returns the library of this MPI with that ABI; None: it has none."""
    if kind == mpi.abi:
        return mpi.library
    if kind == "std":
        return layout.library(mpi.prefix, mpi.mpiexec, mpi.launcher, standard=True)
    return None


def deviates(mpi: Mpi, kind: Abi) -> bool:
    """True if its library has other constants than the standard ABI: Intel MPI has those of a
    draft, so that MPI_ERRORS_RETURN ends a program. Its other library has no such fault."""
    return kind == "std" and mpi.abi != "std" and mpi.name == "intel"


def hindrances(look: Look) -> tuple[str, ...]:
    """Returns the obstacles to another MPI than the program's own, or to a library of ours."""
    return tuple(_hindrances(look))


def _hindrances(look: Look) -> Iterator[str]:
    yield from _closed(look)
    if look.elf and look.elf.rpath and not look.elf.runpath:
        folders = ":".join(look.elf.rpath)
        yield (
            f"it has an RPATH ({folders}), which goes before LD_LIBRARY_PATH; `mpigauge exec` "
            "goes before both"
        )
    if len(look.abis) > 1:
        yield f"it loads two MPIs: {' and '.join(WORDS[kind] for kind in look.abis)}"
    if look.extensions:
        yield f"it calls what only some MPIs have: {_listed(sorted(look.extensions))}"
    for each in look.runtimes:
        if each.path is None:
            yield f"it needs {each.name}, the runtime of its Fortran compiler, which is not here"


def _closed(look: Look) -> Iterator[str]:
    """Yields reasons why nothing at all can replace its parts."""
    if look.secure:
        yield "it runs with another's rights (setuid): the loader ignores LD_PRELOAD for it"
    if look.static:
        yield "it is statically linked: nothing can be loaded before it"
    elif look.holds_mpi:
        yield "its MPI is a part of the program itself (statically linked): no other can be taken"


def _impossible(look: Look, mpi: Mpi) -> Iterator[str]:
    """Yields reasons why no library of this MPI can replace the program's own."""
    library = _elf(mpi.library)
    if look.elf and library and not look.elf.runs_with(library):
        yield f"the program is for {_machine(look.elf)}, and it is for {_machine(library)}"
        return
    yield from _closed(look)
    if look.unknown and not look.abis:
        yield f"the program is for {listed(look.unknown)}, whose ABI mpigauge does not support"
    elif len(look.abis) > 1:
        yield f"the program loads two MPIs: {' and '.join(WORDS[kind] for kind in look.abis)}"
    elif not look.abis and not look.holds_mpi:
        yield "the program is for no supported MPI"


def _machine(elf: Elf) -> str:
    return f"{elf.machine} ({elf.bits} bits)"


def _directly(look: Look, mpi: Mpi, kind: Abi, library: Path) -> Suits:
    spec = mpi.spec.removesuffix(STANDARD) + (STANDARD if kind == "std" else "")
    own = _elf(library)
    if own is None:
        return Suits(mpi.label, spec, False, (f"{library} cannot be read",))
    layers, without = _layers(look, library, own)
    if without:
        why = f"it has no {without}, the layer for Fortran"
        if _other_buffers(look, _beside(library, without)):
            why = f"its layer for Fortran {OTHER_BUFFERS}"
        return _by_our_layer(look, mpi, library, [without], why)
    calls, data = _lacking(look, own, layers)
    if short := list(filter(abi.is_of_layer, (*calls, *data))):
        why = f"its layer for Fortran lacks {_listed(short)}"
        names = [each.name for each in look.fortran]
        if (instead := _by_our_layer(look, mpi, library, names, why)).translated:
            return instead
    if data:
        lacks = f"it lacks {many(len(data), 'variable')} of MPI that the program takes"
        return Suits(mpi.label, spec, False, (f"{lacks}: {_listed(data)}",))
    ways = [*_links(look, library, own), *_kept(look, layers, library)]
    if calls:
        ways.append(
            f"it lacks {many(len(calls), 'function')} of MPI, and the program ends where it calls "
            f"one: {_listed(calls)}"
        )
    return Suits(mpi.label, spec, True, tuple(ways), False, library, layers, tuple(calls))


def _translated(look: Look, mpi: Mpi, kind: Abi) -> Suits:
    ways = [f"by a translation from {WORDS[kind]} to {WORDS[mpi.abi]}"]
    if deviates(mpi, kind):
        ways.append("its library with the standard ABI has other values for some constants")
    if look.extensions:
        ways.append(f"which has only some of {_listed(sorted(look.extensions))}")
    return Suits(mpi.label, mpi.spec, False, tuple(ways), translated=True)


def _by_our_layer(look: Look, mpi: Mpi, library: Path, names: list[str], why: str) -> Suits:
    """Translates for an MPI with the ABI, but without some of the program's layers for Fortran: the
    translation may have those of these names, and changes nothing else."""
    if not set(names) <= set(NAMES[look.abis[0]]):
        return Suits(mpi.label, mpi.spec, False, (why,))
    if any(library.parent.glob(COMPONENTS)):
        why += ", and components of its own, which would take another for theirs"
        return Suits(mpi.label, mpi.spec, False, (why,))
    return Suits(mpi.label, mpi.spec, False, (f"by a translation, as {why}",), translated=True)


def _layers(look: Look, library: Path, own: Elf) -> tuple[tuple[Path, ...], str]:
    """Returns the layers for Fortran to use: those next to the library, else, or if these take
    buffers in another form, the program's own if compatible; and the name of a missing one."""
    layers = []
    for each in look.fortran:
        beside = _beside(library, each.name)
        if beside.exists() and not _other_buffers(look, beside):
            layers.append(beside)
        elif each.path and each.elf and _stands_on(each.elf, own):
            layers.append(each.path)
        else:
            return (), each.name
    return tuple(dict.fromkeys(layers)), ""


def _beside(library: Path, name: str) -> Path:
    """Returns the path of a layer for Fortran next to a library."""
    return library.parent / abi.usual_name(name)


def _other_buffers(look: Look, layer: Path) -> bool:
    """True if the program hands buffers of mpi_f08 over in the form of one compiler (array
    descriptors), and a layer was made by another, whose form differs."""
    if not any(name.endswith(BY_DESCRIPTOR) for name in look.calls):
        return False
    own, other = look.elf, _elf(layer)
    makers = [_fortran_compiler(elf) for elf in (own, other) if elf]
    return len(makers) == 2 and None not in makers and makers[0] != makers[1]


def _fortran_compiler(elf: Elf) -> str | None:
    """Returns the Fortran compiler that made a file, by its runtime; None: unknown."""
    for compiler, runtime, inner in COMPILERS:
        needs = any(name.startswith(runtime) for name in elf.needed)
        if needs or any(name.startswith(inner) for name in elf.offers | elf.wants):
            return compiler
    return None


def _stands_on(layer: Elf, library: Elf) -> bool:
    """True if a layer for Fortran of another MPI with this ABI finds all that it imports, except
    extensions, which are looked up when they are called."""
    if any(name.startswith(INNER) for name in layer.needed):
        return False
    imports = set(filter(abi.is_of_mpi, layer.wants)) - abi.extensions(layer.wants)
    return library.offers.issuperset(imports)


def _lacking(look: Look, own: Elf, layers: tuple[Path, ...]) -> tuple[list[str], list[str]]:
    """Returns the missing functions of MPI, and the missing variables, that the program imports."""
    offers = own.offers.union(*(elf.offers for elf in map(_elf, layers) if elf))
    calls = {name for name in look.calls | look.extensions if not _is_own(name, look)}
    return sorted(calls - offers), sorted(look.data - offers)


def _is_own(name: str, look: Look) -> bool:
    """True if the program defines it itself, like wrappers."""
    own = []
    for each in look.libraries:
        if each.elf and not abi.family_of(each.name):
            own.append(each.elf)
    return any(name in elf.offers for elf in [look.elf, *own] if elf)


def _links(look: Look, library: Path, own: Elf) -> Iterator[str]:
    """Yields names under which the program needs a library that has another one here."""
    for each in _asked(look):
        if each.name not in (own.soname, library.name):
            yield f"under the name {each.name}, which its {library.name} has not"


def _kept(look: Look, layers: tuple[Path, ...], library: Path) -> Iterator[str]:
    """Yields layers for Fortran that stay the program's own."""
    for each in look.fortran:
        if each.path in layers and each.path.parent != library.parent:
            yield f"below the program's own {each.name}, the layer for Fortran"


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
