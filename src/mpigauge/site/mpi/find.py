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
from mpigauge.site.mpi import layout
from mpigauge.site.mpi.packages import wheels
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
"""Places of MPIs that need a change of the environment, by the kind of change."""
WHAT_TO_DO = (
    "run `mpigauge mpi install mpich`, or load an MPI module, or name an MPI's folder with --mpi"
)


@dataclass(frozen=True)
class Found:
    """All working MPIs, and a sentence for each broken one."""

    mpis: tuple[Mpi, ...]
    problems: tuple[str, ...]


def find(spec: str | None = None) -> Mpi:
    """Returns the MPI that `spec` selects.

    None: the embedded one if it is installed, else the one on PATH. Otherwise "path", a name
    ("intel", "mpich==5.0.2"), "module:NAME" after an environment module is loaded, "script:FILE"
    after that script is sourced, or the path of a prefix, mpiexec or mpirun; with "@std" at the
    end, its library with the standard ABI.
    """
    choice, standard = _split(spec)
    return asked(_place(choice), standard)


def list_all() -> Found:
    """Returns every MPI in the default places."""
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


_OF_SRUN = ("pmix", "pmi2", "cray_shasta")
"""The values of srun's option of this name."""


def _split(spec: str | None) -> tuple[str | None, bool]:
    if spec is None:
        return None, False
    name, equals, version = spec.removesuffix(STANDARD).partition("==")
    if not Path(name).exists():
        name = _NAMES.get(name.lower(), name)
    return f"{name}{equals}{version}" or None, spec.endswith(STANDARD)


def _place(spec: str | None) -> MpiPlace:
    if spec is None:
        return _default_place()
    if spec == "path":
        return _on_path_or_error("there is no mpiexec and no mpirun on PATH")
    kind, colon, rest = spec.partition(":")
    if colon and kind in BY_KIND:
        return BY_KIND[kind](rest)
    if spec.partition("==")[0] in wheels.WHEELS:
        return _named_place(spec)
    if "/" in spec or Path(spec).exists():
        return _place_at(Path(spec).expanduser().absolute())
    raise _unknown(spec)


def _unknown(spec: str) -> UserError:
    names = [*wheels.WHEELS, "path"]
    if "," in spec:
        words = " ".join(f"--mpi {name}" for name in spec.split(",") if name)
        return UserError(f"unknown MPI '{spec}'; for several write {words}")
    if spec in _OF_SRUN:
        return UserError(
            f"unknown MPI '{spec}'; srun's --mpi={spec} is --launcher srun:{spec} here"
        )
    return UserError(
        f"unknown MPI '{spec}'{did_you_mean(spec, names)} "
        f"(known: {', '.join(names)}, module:NAME, script:FILE, or the path of a prefix or an "
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


def _named_place(spec: str) -> MpiPlace:
    name, equals, version = spec.partition("==")
    if equals and not version:
        raise UserError(f"'{spec}' names no version; write {name} or {name}==VERSION")
    for prefix in wheels.installed(name):
        if version in ("", _version_of(prefix, name)):
            return private_place(prefix)
    raise UserError(f"{spec} is not installed; run `mpigauge mpi install {spec}`")


def _version_of(prefix: Path, name: str) -> str:
    return prefix.name.removeprefix(f"{name}-")


def _place_at(path: Path) -> MpiPlace:
    if not path.exists():
        raise UserError(f"there is no MPI at {path}: no such file or folder")
    if path.is_dir():
        return prefix_place(path, f"at {path}")
    return site_place(path, f"at {path}")


def asked(place: MpiPlace, standard: bool = False) -> Mpi:
    """Returns the MPI at this place, by a query of its library. UserError: it does not work."""
    if not os.access(place.mpiexec, os.X_OK):
        raise UserError(f"{place.mpiexec} is missing or cannot be run; {_repair(place)}")
    library = layout.library(place.prefix, place.mpiexec, place.launcher, standard)
    if library is None:
        name_of_library = layout.library_names(place.launcher, standard)[0]
        raise UserError(
            f"the MPI {place.origin} has no {name_of_library} below {place.prefix}; "
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
        found=place.origin,
        again=place.again,
    )


def _standard_hint() -> str:
    return "the standard ABI comes with MPICH 5 and Intel MPI 2021.18 and later"


def _repair(place: MpiPlace) -> str:
    if place.origin.startswith("installed by mpigauge"):
        return f"remove {place.prefix} and install it again with `mpigauge mpi install`"
    return WHAT_TO_DO
