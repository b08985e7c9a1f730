# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What the ranks of a program have to be told, so that it runs on an MPI that it was not linked to.

The MPI's own library is loaded before the program's other libraries (LD_PRELOAD). The loader then
takes it for the one that the program asks for, whatever RPATH, RUNPATH and LD_LIBRARY_PATH say.
Where the ABI is another one, or the layer for Fortran is missing, a translation is loaded in its
place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.mpi.folders import say_nothing
from mpigauge.site.mpi.programs.elf import DamagedError, read_elf
from mpigauge.site.mpi.programs.look import inner_words, look
from mpigauge.site.mpi.programs.stand_ins import empty, lacking
from mpigauge.site.mpi.programs.suits import WORDS, Suits, deviates, library_of, suits
from mpigauge.site.mpi.translation import translation

if TYPE_CHECKING:
    from mpigauge.model.mpi import Abi, Mpi
    from mpigauge.site.mpi.folders import Tell
    from mpigauge.site.mpi.programs.look import Look

PRELOAD = "LD_PRELOAD"
OPENS_LIBRARIES = "dlopen"
CONTAINERS = (
    *("apptainer", "singularity", "podman", "docker", "enroot", "ch-run", "shifter", "sarus"),
    *("chroot", "bwrap", "unshare", "nsenter"),
)
"""Programs that start others where other files are."""
RENAMED = {"mpich": ("libmpich.so.12",)}
"""What packagers call libraries of an ABI, too."""
OWN, DIRECTLY, TRANSLATED, UNSEEN = "own", "directly", "translated", "unseen"
NONE = "none"


@dataclass(frozen=True)
class Way:
    """How a program comes to run on an MPI."""

    how: str
    """own (it would load that MPI by itself), directly, translated; unseen: what it will load is
    not to be seen beforehand; none: it is not a program of MPI."""
    said: str
    """Which, and why, in a sentence."""
    abi: Abi | None = None
    """The one that the program was made for."""
    preload: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What ranks are told beside that."""
    notes: tuple[str, ...] = ()
    """What is special about it, as sentences."""

    @property
    def is_special(self) -> bool:
        """Whether somebody who starts the program would not expect it."""
        return self.how == TRANSLATED or bool(self.notes)

    def variables(self, here: Mapping[str, str], first: Sequence[Path] = ()) -> dict[str, str]:
        """All that ranks are told, in an environment where something may be preloaded already,
        which goes before MPI; `first` goes before everything."""
        before = here.get(PRELOAD, "").replace(" ", ":").split(":")
        whole = [*map(str, first), *filter(None, before), *map(str, self.preload)]
        preload = {PRELOAD: ":".join(dict.fromkeys(whole))} if whole else {}
        return {**self.env, **preload}


def way_of(
    words: Sequence[str],
    mpi: Mpi,
    here: Mapping[str, str],
    folder: Path = Path(),
    tell: Tell = say_nothing,
) -> Way:
    """How the program behind these words comes to run on this MPI, in this environment. UserError:
    there is no such program, or this MPI cannot run it."""
    found = look(words, here, folder)
    if found.kind in ("script", "other") and (inner := inner_words(words, here, folder)):
        words, found = inner, look(inner, here, folder)
    name = words[0]
    if not found.uses_mpi:
        return _unseen(found, name)
    suited = suits(found, mpi)
    if not suited.runs:
        raise UserError(f"{mpi.label} cannot run {name}: {'; '.join(suited.ways)}")
    if suited.translated:
        return _translated(found, mpi, name, suited, tell)
    return _directly(found, mpi, name, suited)


def check_told(words: Sequence[str], kind: Abi, here: Mapping[str, str]) -> None:
    """UserError: the program can be seen, and was made for another ABI than somebody has told."""
    found = look(words, here)
    if found.abis and kind not in found.abis:
        raise UserError(
            f"--abi {kind}: {words[0]} is made for {WORDS[found.abis[0]]}, as can be seen; leave "
            "--abi out"
        )


def way_told(name: str, kind: Abi, mpi: Mpi, tell: Tell = say_nothing) -> Way:
    """The way of a program that cannot be looked at, whose ABI somebody has told. Its layer for
    Fortran stays its own."""
    library = library_of(mpi, kind)
    if library is None or deviates(mpi, kind):
        return _by_translation(name, kind, mpi, tell, RENAMED.get(kind, ()))
    more = [empty(each) for each in RENAMED.get(kind, ())]
    said = f"{name} starts a program for {WORDS[kind]}, which {mpi.label} has: it runs directly"
    return Way(DIRECTLY, said, kind, (library, *more))


def _unseen(found: Look, name: str) -> Way:
    """A script may start programs of MPI, and a program that opens libraries may open one."""
    if PurePath(name).name in CONTAINERS:
        said = f"{name} starts a program among files that are not seen here; say its ABI with --abi"
        return Way(UNSEEN, said)
    if found.kind != "binary":
        return Way(UNSEEN, f"{name} is {_kind(found)}: which MPI it takes is seen when it runs")
    if found.elf and not found.static and OPENS_LIBRARIES in found.wants:
        return Way(UNSEEN, f"{name} needs no MPI, but may open one: that is seen when it runs")
    return Way(
        NONE,
        f"{name} is not a program of MPI: it needs no library of MPI, and opens none; name the "
        "program that does",
    )


def _kind(found: Look) -> str:
    if found.kind == "python":
        return "Python without mpi4py"
    return "a script"


def _directly(found: Look, mpi: Mpi, name: str, suited: Suits) -> Way:
    assert suited.library is not None
    kind = found.abis[0]
    taken = (suited.library, *suited.layers)
    names = {each.name for each in found.mpi_libraries}
    missing = sorted(names - {soname for path in taken for soname in (path.name, _soname(path))})
    more = [empty(each) for each in missing]
    more += [lacking(suited.lacking, mpi.label)] if suited.lacking else []
    way = Way(
        DIRECTLY,
        f"{name} is made for {WORDS[kind]}, which {mpi.label} has: it runs there directly",
        kind,
        (*taken, *more),
        notes=_notes(name, suited.ways),
    )
    if not more and _loads(found) == {path.resolve() for path in taken}:
        return replace(way, how=OWN, said=f"{name} takes {mpi.label} by itself")
    return replace(way, said=way.said + _instead(found, taken))


def _instead(found: Look, taken: Sequence[Path]) -> str:
    """What the program would have loaded, where that is another MPI."""
    for each in found.mpi_libraries:
        if each.path is None:
            return f", in place of {each.name}, which is not here"
        if each.path.resolve() not in {path.resolve() for path in taken}:
            return f", in place of {each.path} (by {each.through.partition(' ')[0]})"
    return ""


def _loads(found: Look) -> set[Path]:
    return {each.path.resolve() for each in found.mpi_libraries if each.path}


def _translated(found: Look, mpi: Mpi, name: str, suited: Suits, tell: Tell) -> Way:
    lost = [each.name for each in found.libraries if each.path is None]
    asked = [each.name for each in found.mpi_libraries]
    way = _by_translation(name, found.abis[0], mpi, tell, asked, lost)
    return replace(way, notes=_notes(name, suited.ways[1:]))


def _by_translation(
    name: str, kind: Abi, mpi: Mpi, tell: Tell, asked: Sequence[str], lost: Sequence[str] = ()
) -> Way:
    """Beside the translation stands an empty library for each other name of an MPI that is `asked`
    for, and for those that are `lost` and that it knows."""
    made = translation(kind, mpi, tell)
    library = made.preload[0]
    known = [each for each in lost if (made.folder / each).exists()]
    others = sorted({*asked, *known} - {library.name, _soname(library)})
    has = f"and {mpi.label} has {WORDS[mpi.abi]}"
    if kind == mpi.abi:
        has = f"which {mpi.label} has, but not its layer for Fortran"
    said = f"{name} is made for {WORDS[kind]}, {has}: it runs there through a translation"
    return Way(TRANSLATED, said, kind, (library, *map(empty, others)), dict(made.env))


def _notes(name: str, ways: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{name}: {each}" for each in ways)


def _soname(path: Path) -> str:
    try:
        return read_elf(path).soname
    except (OSError, DamagedError):
        return ""
