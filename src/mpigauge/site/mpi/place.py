# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The place of an MPI, before a query of its library."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.mpi import environment, layout
from mpigauge.site.mpi.packages import wheels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.model.mpi import Launcher

PROGRAMS = ("mpiexec", "mpirun")
CRAY_PREFIX = ("CRAY_MPICH_DIR", "CRAY_MPICH_PREFIX")
"""Variables with the place of MPICH in Cray's modules."""


@dataclass(frozen=True)
class MpiPlace:
    prefix: Path
    mpiexec: Path
    launcher: Launcher
    env: Mapping[str, str] = field(hash=False)
    origin: str
    again: str = ""
    """The value of --mpi that selects it again; empty: the path of its launcher does."""


def private_place(prefix: Path) -> MpiPlace:
    """Returns the place of an MPI installed by `mpigauge mpi install`."""
    name, _, version = prefix.name.partition("-")
    return wheel_place(name, prefix, f"installed by mpigauge in {prefix}", f"{name}=={version}")


def wheel_place(name: str, prefix: Path, origin: str, again: str = "") -> MpiPlace:
    """Returns the place of a prefix into which a wheel was unpacked, by us or by pip."""
    return MpiPlace(
        prefix=prefix,
        mpiexec=prefix / "bin" / "mpiexec",
        launcher=wheels.WHEELS[name].launcher,
        env=wheels.environment(name, prefix),
        origin=origin,
        again=again,
    )


def site_place(
    program: Path, origin: str, env: Mapping[str, str] | None = None, again: str = ""
) -> MpiPlace:
    """Returns the place of the MPI of this launcher."""
    return MpiPlace(
        prefix=program.parent.parent,
        mpiexec=program,
        launcher=layout.launcher_kind(program, env),
        env=env or {},
        origin=origin,
        again=again,
    )


def prefix_place(prefix: Path, origin: str) -> MpiPlace:
    """Returns the place of the MPI below this folder, with its own launcher, or with srun if it has
    none.

    UserError: there is neither.
    """
    try:
        program = layout.launcher_below(prefix)
    except UserError:
        started_by_srun = srun_place(prefix, origin)
        if started_by_srun is None:
            raise
        return started_by_srun
    return site_place(program.absolute(), origin)


def srun_place(
    prefix: Path, origin: str, env: Mapping[str, str] | None = None, again: str = ""
) -> MpiPlace | None:
    """Returns the place of an MPI with MPICH's ABI that needs srun. None: no library or srun."""
    program = shutil.which("srun", path=(env or {}).get("PATH"))
    if program is None:
        return None
    if layout.library(prefix, Path(program), "srun", standard=False) is None:
        return None
    return MpiPlace(
        prefix=prefix,
        mpiexec=Path(program).absolute(),
        launcher="srun",
        env=env or {},
        origin=origin,
        again=again or str(prefix),
    )


def cray_place() -> MpiPlace | None:
    """Returns Cray's MPICH of the loaded modules; None: it does not exist."""
    return _cray_of(os.environ, {}, "named by")


def _cray_of(
    variables: Mapping[str, str], env: Mapping[str, str], origin: str, again: str = ""
) -> MpiPlace | None:
    for name in CRAY_PREFIX:
        if prefix := variables.get(name):
            return srun_place(Path(prefix), f"{origin} {name}", env, again)
    return None


def place_on_path() -> list[MpiPlace]:
    """Returns the place of the MPI whose launcher a user gets as mpiexec; empty: unknown."""
    program = first_launcher(os.environ.get("PATH"))
    if program is not None:
        return [site_place(program, f"on PATH as {program}")]
    cray = cray_place()
    if cray is None:
        return []
    return [cray]


def module_place(name: str) -> MpiPlace:
    """Returns the place of the MPI that this module puts on PATH."""
    env = environment.after_module(name)
    return _changed_place(env, f"module {name}", f"module:{name}")


def script_place(script: Path) -> MpiPlace:
    """Returns the place of the MPI that this script puts on PATH."""
    file = script.expanduser().absolute()
    return _changed_place(environment.after_script(file), f"script {file}", f"script:{file}")


def first_launcher(path: str | None) -> Path | None:
    """Returns the first mpiexec of these folders, else the first mpirun."""
    programs = (shutil.which(name, path=path) for name in PROGRAMS)
    return next((Path(program).absolute() for program in programs if program), None)


def _changed_place(env: Mapping[str, str], what: str, again: str) -> MpiPlace:
    cray = _cray_of(env, env, f"{what}, which sets", again)
    if cray is not None:
        return cray
    program = first_launcher(env.get("PATH"))
    if program is None:
        raise UserError(f"the {what} puts no mpiexec and no mpirun on PATH, so it is not an MPI")
    return site_place(program, what, env, again)
