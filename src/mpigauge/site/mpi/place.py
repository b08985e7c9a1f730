# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Where an MPI is said to be, before its library is asked anything."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.mpi import environment, layout, wheels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpigauge.model.mpi import Launcher

PROGRAMS = ("mpiexec", "mpirun")
CRAY_PREFIX = ("CRAY_MPICH_DIR", "CRAY_MPICH_PREFIX")
"""Variables in which modules of Cray say where its MPICH is."""


@dataclass(frozen=True)
class MpiPlace:
    prefix: Path
    mpiexec: Path
    launcher: Launcher
    env: Mapping[str, str] = field(hash=False)
    found: str
    again: str = ""
    """What finds it again with --mpi; empty: its launcher does."""


def private_place(prefix: Path) -> MpiPlace:
    """What `mpigauge mpi install` has put there."""
    name, _, version = prefix.name.partition("-")
    return wheel_place(name, prefix, f"installed by mpigauge in {prefix}", f"{name}=={version}")


def wheel_place(name: str, prefix: Path, found: str, again: str = "") -> MpiPlace:
    """A prefix that a wheel was unpacked into, by us or by pip."""
    return MpiPlace(
        prefix=prefix,
        mpiexec=prefix / "bin" / "mpiexec",
        launcher=wheels.WHEELS[name].launcher,
        env=wheels.environment(name, prefix),
        found=found,
        again=again,
    )


def site_place(
    program: Path, found: str, env: Mapping[str, str] | None = None, again: str = ""
) -> MpiPlace:
    """The MPI of this launcher."""
    return MpiPlace(
        prefix=program.parent.parent,
        mpiexec=program,
        launcher=layout.launcher_kind(program, env),
        env=env or {},
        found=found,
        again=again,
    )


def prefix_place(prefix: Path, found: str) -> MpiPlace:
    """The MPI below this folder, with its own launcher, or with srun where it brings none.
    UserError: there is neither."""
    try:
        program = layout.launcher_below(prefix)
    except UserError:
        started_by_srun = srun_place(prefix, found)
        if started_by_srun is None:
            raise
        return started_by_srun
    return site_place(program.absolute(), found)


def srun_place(
    prefix: Path, found: str, env: Mapping[str, str] | None = None, again: str = ""
) -> MpiPlace | None:
    """An MPI of MPICH's ABI that brings no launcher. None: it is not there, or no srun is."""
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
        found=found,
        again=again or str(prefix),
    )


def cray_place() -> MpiPlace | None:
    """Cray's MPICH of the modules that are loaded."""
    return _cray_of(os.environ, {}, "named by")


def _cray_of(
    variables: Mapping[str, str], env: Mapping[str, str], found: str, again: str = ""
) -> MpiPlace | None:
    for name in CRAY_PREFIX:
        if prefix := variables.get(name):
            return srun_place(Path(prefix), f"{found} {name}", env, again)
    return None


def place_on_path() -> list[MpiPlace]:
    """The one that a user gets who types mpiexec."""
    program = first_launcher(os.environ.get("PATH"))
    if program is not None:
        return [site_place(program, f"on PATH as {program}")]
    cray = cray_place()
    if cray is None:
        return []
    return [cray]


def module_place(name: str) -> MpiPlace:
    """The MPI that loading this module puts on PATH."""
    env = environment.after_module(name)
    return _changed_place(env, f"module {name}", f"module:{name}")


def script_place(script: Path) -> MpiPlace:
    """The MPI that sourcing this script puts on PATH."""
    file = script.expanduser().absolute()
    return _changed_place(environment.after_script(file), f"script {file}", f"script:{file}")


def first_launcher(path: str | None) -> Path | None:
    """The first mpiexec of these folders, else the first mpirun."""
    found = (shutil.which(name, path=path) for name in PROGRAMS)
    return next((Path(program).absolute() for program in found if program), None)


def _changed_place(env: Mapping[str, str], what: str, again: str) -> MpiPlace:
    cray = _cray_of(env, env, f"{what}, which sets", again)
    if cray is not None:
        return cray
    program = first_launcher(env.get("PATH"))
    if program is None:
        raise UserError(f"the {what} puts no mpiexec and no mpirun on PATH, so it is not an MPI")
    return site_place(program, what, env, again)
