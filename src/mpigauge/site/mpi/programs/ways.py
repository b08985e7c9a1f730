# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The variables with which the ranks of a program run on an MPI that it was not linked to.

The MPI's own library is loaded before the program's other libraries (LD_PRELOAD). The loader then
uses it for the one that the program needs, whatever RPATH, RUNPATH and LD_LIBRARY_PATH contain. If
the ABI is another one, or the layer for Fortran is missing, a translation is loaded instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.builds.folders import say_nothing
from mpigauge.site.mpi.make.translation import translation
from mpigauge.site.mpi.programs.elf import DamagedError, read_elf
from mpigauge.site.mpi.programs.look import inner_words, look
from mpigauge.site.mpi.programs.stand_ins import empty, lacking
from mpigauge.site.mpi.programs.suits import WORDS, Suits, deviates, library_of, suits

if TYPE_CHECKING:
    from mpigauge.model.mpi import Abi, Mpi
    from mpigauge.site.builds.folders import Tell
    from mpigauge.site.mpi.programs.look import Look

PRELOAD = "LD_PRELOAD"
OPENS_LIBRARIES = "dlopen"
CONTAINERS = (
    *("apptainer", "singularity", "podman", "docker", "enroot", "ch-run", "shifter", "sarus"),
    *("chroot", "bwrap", "unshare", "nsenter"),
)
"""Programs that start others with a different file system."""
RENAMED = {"mpich": ("libmpich.so.12",)}
"""Additional names of packagers for libraries of an ABI."""
OWN, DIRECTLY, TRANSLATED, UNSEEN = "own", "directly", "translated", "unseen"
NONE = "none"


@dataclass(frozen=True)
class Way:
    """The way in which a program runs on an MPI."""

    how: str
    """The kind: own (it would load that MPI by itself), directly, translated; unseen: its libraries
    are not known in advance; none: it is not a program of MPI."""
    summary: str
    """The way and its reason, in a sentence."""
    abi: Abi | None = None
    """The ABI that the program was built for."""
    preload: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Further variables of ranks."""
    notes: tuple[str, ...] = ()
    """Peculiarities, as sentences."""

    @property
    def is_special(self) -> bool:
        """True if its users would not expect it."""
        return self.how == TRANSLATED or bool(self.notes)

    def variables(self, here: Mapping[str, str], first: Sequence[Path] = ()) -> dict[str, str]:
        """Returns all variables of ranks, in an environment that may preload libraries already,
        which go before MPI; `first` goes before everything."""
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
    """Returns the way in which the program of these words runs on this MPI, in this environment.

    UserError: there is no such program, or this MPI cannot run it.
    """
    program = look(words, here, folder)
    if program.kind in ("script", "other") and (inner := inner_words(words, here, folder)):
        words, program = inner, look(inner, here, folder)
    name = words[0]
    if not program.uses_mpi:
        return _unseen(program, name)
    suited = suits(program, mpi)
    if not suited.runs:
        raise UserError(f"{mpi.label} cannot run {name}: {'; '.join(suited.ways)}")
    if suited.translated:
        return _translated(program, mpi, name, suited, tell)
    return _directly(program, mpi, name, suited)


def check_told(words: Sequence[str], kind: Abi, here: Mapping[str, str]) -> None:
    """Raises a UserError if the program is visibly built for another ABI than the user's `kind`."""
    program = look(words, here)
    if program.abis and kind not in program.abis:
        raise UserError(
            f"--abi {kind}: {words[0]} is made for {WORDS[program.abis[0]]}, as can be seen; leave "
            "--abi out"
        )


def way_told(name: str, kind: Abi, mpi: Mpi, tell: Tell = say_nothing) -> Way:
    """Returns the way of a program that cannot be inspected, and whose ABI the user specified. Its
    layer for Fortran stays its own."""
    library = library_of(mpi, kind)
    if library is None or deviates(mpi, kind):
        return _by_translation(name, kind, mpi, tell, RENAMED.get(kind, ()))
    more = [empty(each) for each in RENAMED.get(kind, ())]
    summary = f"{name} starts a program for {WORDS[kind]}, which {mpi.label} has: it runs directly"
    return Way(DIRECTLY, summary, kind, (library, *more))


def _unseen(program: Look, name: str) -> Way:
    """Describes a program without MPI, which may start programs of MPI, or open a library."""
    if PurePath(name).name in CONTAINERS:
        summary = f"{name} starts a program among files not visible here; give its ABI with --abi"
        return Way(UNSEEN, summary)
    if program.kind != "binary":
        return Way(
            UNSEEN,
            f"{name} is {_kind(program)}: which MPI it takes shows when it runs; if it fails, "
            "give the ABI of its program with --abi",
        )
    if program.elf and not program.static and OPENS_LIBRARIES in program.wants:
        return Way(UNSEEN, f"{name} needs no MPI, but may open one: that is seen when it runs")
    return Way(
        NONE,
        f"{name} is not a program of MPI: it needs no library of MPI, and opens none; name the "
        "program that does",
    )


def _kind(program: Look) -> str:
    if program.kind == "python":
        return "Python without mpi4py"
    return "a script"


def _directly(program: Look, mpi: Mpi, name: str, suited: Suits) -> Way:
    assert suited.library is not None
    kind = program.abis[0]
    taken = (suited.library, *suited.layers)
    names = {each.name for each in program.mpi_libraries}
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
    if not more and _loads(program) == {path.resolve() for path in taken}:
        return replace(way, how=OWN, summary=f"{name} takes {mpi.label} by itself")
    return replace(way, summary=way.summary + _instead(program, taken))


def _instead(program: Look, taken: Sequence[Path]) -> str:
    """Returns the library of MPI that is replaced, as a clause; empty: it is the same."""
    for each in program.mpi_libraries:
        if each.path is None:
            return f", in place of {each.name}, which is not here"
        if each.path.resolve() not in {path.resolve() for path in taken}:
            return f", in place of {each.path} (by {each.through.partition(' ')[0]})"
    return ""


def _loads(program: Look) -> set[Path]:
    return {each.path.resolve() for each in program.mpi_libraries if each.path}


def _translated(program: Look, mpi: Mpi, name: str, suited: Suits, tell: Tell) -> Way:
    lost = [each.name for each in program.libraries if each.path is None]
    asked = [each.name for each in program.mpi_libraries]
    way = _by_translation(name, program.abis[0], mpi, tell, asked, lost)
    return replace(way, notes=_notes(name, suited.ways[1:]))


def _by_translation(
    name: str, kind: Abi, mpi: Mpi, tell: Tell, asked: Sequence[str], lost: Sequence[str] = ()
) -> Way:
    """Adds an empty library to the translation for each other name of an MPI that is `asked` for,
    and for those that are `lost` and that it has."""
    made = translation(kind, mpi, tell)
    library = made.preload[0]
    existing = [each for each in lost if (made.folder / each).exists()]
    others = sorted({*asked, *existing} - {library.name, _soname(library)})
    has = f"and {mpi.label} has {WORDS[mpi.abi]}"
    if kind == mpi.abi:
        has = f"which {mpi.label} has, but not its layer for Fortran"
    summary = f"{name} is made for {WORDS[kind]}, {has}: it runs there through a translation"
    return Way(TRANSLATED, summary, kind, (library, *map(empty, others)), dict(made.env))


def _notes(name: str, ways: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{name}: {each}" for each in ways)


def _soname(path: Path) -> str:
    try:
        return read_elf(path).soname
    except (OSError, DamagedError):
        return ""
