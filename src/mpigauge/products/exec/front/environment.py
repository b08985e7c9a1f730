# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Sets the environment of each program of a line: without another program's variables, and with no
more than it is to inherit. Variables that a launcher cannot withhold are removed by `env` before
the program starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.site.launch.lines import openmpi

if TYPE_CHECKING:
    from mpigauge.site.launch import Job
    from mpigauge.site.launch.job import App
    from mpigauge.site.launch.lines import Line, Program

OF_LAUNCHERS = ("PMI", "OMPI_", "PRTE_", "HYD", "SLURM", "LD_PRELOAD", "MPIGAUGE")
"""The prefixes of variables by which ranks find each other, or their MPI."""
NEEDED = ("PATH", "HOME", "TMPDIR")
"""The variables by which the program itself is found, and those without which Open MPI does not
start."""


def told_apart(job: Job, line: Line, here: Mapping[str, str]) -> Job:
    """The job of this line, whose programs find what the line says, and no variable of another's.
    `here`: the environment in which the line was typed."""
    if not job.apps:
        names = _not_inherited(job, line, line.programs[0], job.env, here)
        return replace(job, program=_without(names, job.program))
    apps = zip(job.apps, line.programs, strict=True)
    return replace(job, apps=tuple(_apart(app, job, line, own, here) for app, own in apps))


def _apart(app: App, job: Job, line: Line, program: Program, here: Mapping[str, str]) -> App:
    """Variables of programs before it are given back the values that they have here."""
    values = {**here, **job.env}
    others = _of_other_programs(app, job)
    own = {name: values[name] for name in others if name in values}
    unknown = [name for name in others if name not in values]
    names = _not_inherited(job, line, program, app.env, here)
    words = _without([*unknown, *names], app.program)
    return replace(app, env={**own, **app.env}, program=words)


def _of_other_programs(app: App, job: Job) -> list[str]:
    """Open MPI's launcher hands a variable of one program on to those behind it."""
    if job.mpi.launcher != openmpi.GRAMMAR.name:
        return []
    names = {name for each in job.apps for name in each.env}
    return sorted(names - app.env.keys())


def _not_inherited(
    job: Job, line: Line, program: Program, sets: Mapping[str, str], here: Mapping[str, str]
) -> list[str]:
    if line.env.inherits and program.env.inherits:
        return []
    kept = {*NEEDED, *sets, *job.env, *job.mpi.env}
    patterns = (*line.env.passes, *program.env.passes)
    kept |= {each for each in patterns if not each.endswith("*")}
    begun = (*OF_LAUNCHERS, *(each[:-1] for each in patterns if each.endswith("*")))
    return sorted(name for name in here.keys() - kept if not name.startswith(begun))


def _without(names: Iterable[str], program: tuple[str, ...]) -> tuple[str, ...]:
    unset = [word for name in names for word in ("-u", name)]
    if unset:
        return ("env", *unset, *program)
    return program
