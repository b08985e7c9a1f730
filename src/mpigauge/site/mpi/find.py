# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds an MPI: one that we installed, one on PATH, or one at a given place."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.mpi import Mpi
from mpigauge.site.mpi import layout, wheels
from mpigauge.site.mpi.place import (
    MpiPlace,
    module_place,
    place_on_path,
    prefix_place,
    private_place,
    script_place,
    site_place,
)
from mpigauge.site.mpi.query import ask

if TYPE_CHECKING:
    from collections.abc import Callable

    from mpigauge.model.mpi import Abi

STANDARD = "@std"
BY_KIND: dict[str, Callable[[str], MpiPlace]] = {
    "module": module_place,
    "script": lambda text: script_place(Path(text)),
}
"""How an MPI is found that is behind a change of the environment."""
WHAT_TO_DO = (
    "run `mpigauge mpi install mpich`, or load an MPI module, or name an MPI's folder with --mpi"
)


@dataclass(frozen=True)
class Found:
    """All MPIs that answer, and a sentence for each one that does not."""

    mpis: tuple[Mpi, ...]
    problems: tuple[str, ...]


def find(spec: str | None = None) -> Mpi:
    """The MPI that `spec` means.

    None: the embedded one if it is installed, else the one on PATH. Otherwise "path", a name
    ("intel", "mpich==5.0.2"), "module:NAME" after an environment module is loaded, "script:FILE"
    after that script is sourced, or the path of a prefix, mpiexec or mpirun; with "@std" at the
    end, its library with the standard ABI.
    """
    wanted, standard = _split(spec)
    return asked(_place(wanted), standard)


def list_all() -> Found:
    """Every MPI that can be found without being told where to look."""
    places = [private_place(prefix) for name in wheels.WHEELS for prefix in wheels.installed(name)]
    mpis, problems = [], []
    for place in [*places, *place_on_path()]:
        try:
            mpis.append(asked(place))
        except UserError as error:
            problems.append(str(error))
    return Found(tuple(mpis), tuple(problems))


_NAMES = {
    "impi": "intel", "intelmpi": "intel", "intel-mpi": "intel",
    "ompi": "openmpi", "open-mpi": "openmpi",
}  # fmt: skip
"""Other names of MPIs that people type."""


def _split(spec: str | None) -> tuple[str | None, bool]:
    if spec is None:
        return None, False
    name, equals, version = spec.removesuffix(STANDARD).partition("==")
    name = _NAMES.get(name.lower(), name)
    return f"{name}{equals}{version}" or None, spec.endswith(STANDARD)


def _place(wanted: str | None) -> MpiPlace:
    if wanted is None:
        return _default_place()
    if wanted == "path":
        return _on_path_or_error("there is no mpiexec and no mpirun on PATH")
    kind, colon, rest = wanted.partition(":")
    if colon and kind in BY_KIND:
        return BY_KIND[kind](rest)
    if wanted.partition("==")[0] in wheels.WHEELS:
        return _named_place(wanted)
    if "/" in wanted or Path(wanted).exists():
        return _place_at(Path(wanted).expanduser().absolute())
    raise _unknown(wanted)


def _unknown(wanted: str) -> UserError:
    known = [*wheels.WHEELS, "path"]
    if "," in wanted:
        words = " ".join(f"--mpi {name}" for name in wanted.split(",") if name)
        return UserError(f"unknown MPI '{wanted}'; for several write {words}")
    return UserError(
        f"unknown MPI '{wanted}'{did_you_mean(wanted, known)} "
        f"(known: {', '.join(known)}, module:NAME, script:FILE, or the path of a prefix or an "
        "mpiexec)"
    )


def _default_place() -> MpiPlace:
    for prefix in wheels.installed(wheels.EMBEDDED):
        return private_place(prefix)
    return _on_path_or_error("no MPI found")


def _on_path_or_error(problem: str) -> MpiPlace:
    for place in place_on_path():
        return place
    raise UserError(f"{problem}; {WHAT_TO_DO}")


def _named_place(wanted: str) -> MpiPlace:
    name, equals, version = wanted.partition("==")
    if equals and not version:
        raise UserError(f"'{wanted}' names no version; write {name} or {name}==VERSION")
    for prefix in wheels.installed(name):
        if version in ("", _version_of(prefix, name)):
            return private_place(prefix)
    raise UserError(f"{wanted} is not installed; run `mpigauge mpi install {wanted}`")


def _version_of(prefix: Path, name: str) -> str:
    return prefix.name.removeprefix(f"{name}-")


def _place_at(path: Path) -> MpiPlace:
    if not path.exists():
        raise UserError(f"there is no MPI at {path}: no such file or folder")
    if path.is_dir():
        return prefix_place(path, f"at {path}")
    return site_place(path, f"at {path}")


def asked(place: MpiPlace, standard: bool = False) -> Mpi:
    """The MPI at this place, as its library tells. UserError: it is none, or does not work."""
    if not os.access(place.mpiexec, os.X_OK):
        raise UserError(f"{place.mpiexec} is missing or cannot be run; {_repair(place)}")
    library = layout.library(place.prefix, place.mpiexec, place.launcher, standard)
    if library is None:
        wanted = layout.library_names(place.launcher, standard)[0]
        raise UserError(
            f"the MPI {place.found} has no {wanted} below {place.prefix}; "
            + (_standard_hint() if standard else _repair(place))
        )
    answer = ask(library, place.env)
    name, version = answer.name_and_version
    if answer.ompi != (place.launcher == "openmpi"):
        raise UserError(
            f"the launcher {place.mpiexec} ({place.launcher}) and the library {library} "
            f"({name} {version}) do not belong together; name the MPI by its own folder with --mpi"
        )
    abi: Abi = "std" if standard else "ompi" if answer.ompi else "mpich"
    return Mpi(
        name=name,
        version=version,
        standard=answer.standard,
        library=library,
        library_string=answer.text,
        abi=abi,
        launcher=place.launcher,
        mpiexec=place.mpiexec,
        prefix=place.prefix,
        include=layout.include(place.prefix, place.mpiexec, abi),
        env=place.env,
        found=place.found,
        again=place.again,
    )


def _standard_hint() -> str:
    return "the standard ABI comes with MPICH 5 and Intel MPI 2021.18 and later"


def _repair(place: MpiPlace) -> str:
    if place.found.startswith("installed by mpigauge"):
        return f"remove {place.prefix} and install it again with `mpigauge mpi install`"
    return WHAT_TO_DO
