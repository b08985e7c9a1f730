# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Makes the command that starts the user's program with the profiler in all ranks.

A launch line of the user keeps its words, plus variables for its ranks in its launcher's syntax;
the launcher inherits them, too, since ranks that a program spawns have the launcher's environment.
A script gets them by its environment, and stand-ins for launchers on its PATH that add them
(inner.py). A program alone is launched by mpigauge if the user says how.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.measuring.jobs.agent import python_line
from mpigauge.model.errors import UserError
from mpigauge.products.profile.launch.preload import PRELOAD, joined, with_variables
from mpigauge.site.launch.lines import is_launcher, read
from mpigauge.site.launch.lines.read import LAUNCHERS, dialect_of, file_text
from mpigauge.site.mpi.layout import launcher_kind
from mpigauge.site.mpi.programs import look

if TYPE_CHECKING:
    from mpigauge.site.launch.lines import Line

FOLDER_VARIABLE = "MPIGAUGE_PROFILE"
LIBRARY_VARIABLE = "MPIGAUGE_PROFILE_LIBRARY"
"""The variable with the library that stand-ins for launchers preload."""
STAND_INS = "launchers"
"""The folder with the stand-ins."""
_BY_US = "let mpigauge launch the program, with --mpi MPI --np N -- PROGRAM"


@dataclass(frozen=True)
class Start:
    """The command of a launch."""

    words: tuple[str, ...]
    env: Mapping[str, str] = field(hash=False)
    """The whole environment."""
    programs: tuple[tuple[str, ...], ...] = ()
    """The command lines of MPI programs known in advance; none: a script starts them."""
    hosts: tuple[str, ...] = ()
    """The hosts that are known to have ranks."""
    notes: tuple[str, ...] = ()
    """Sentences for the user."""
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The files to write before the launch: texts by their paths."""


def user_line(words: Sequence[str], variables: Mapping[str, str], here: Mapping[str, str]) -> Start:
    """Returns the start of a launch line, script or program of the user with these variables.
    UserError: there is no such program."""
    _check_there(words[0], here)
    if is_launcher(words[0]):
        return _launch_line(words, variables, here)
    notes = _alone(words, here)
    return Start(tuple(words), _inherited(variables, here), (tuple(words),), notes=notes)


def _check_there(word: str, here: Mapping[str, str]) -> None:
    if shutil.which(word, path=here.get("PATH", os.defpath)) is not None:
        return
    try:
        look([word], here)  # says what is wrong with it
    except UserError as error:
        hint = f"; or {_BY_US}" if is_launcher(word) else ""
        raise UserError(f"{error}{hint}") from None


def with_stand_ins(start: Start, folder: Path) -> Start:
    """Returns a start with stand-ins for launchers first on PATH, as ranks that a script launches
    may be on hosts that inherit no variables."""
    stand_ins = folder / STAND_INS
    stand_ins.mkdir()
    for name in LAUNCHERS:
        if shutil.which(name, path=start.env.get("PATH")):
            _write_stand_in(stand_ins / name)
    path = start.env.get("PATH", os.defpath)
    return replace(start, env={**start.env, "PATH": f"{stand_ins}{os.pathsep}{path}"})


def _write_stand_in(file: Path) -> None:
    line = python_line("from mpigauge.products.profile.launch.inner import main\nmain()", {})
    file.write_text(f'#!/bin/sh\n{line} "$0" "$@"\n', encoding="utf-8")
    file.chmod(0o755)


def dialect(launcher: str, here: Mapping[str, str]) -> str:
    """Returns the kind of command line of a launcher, by its name or its version output. UserError:
    it is unknown, or not on PATH."""
    kind = dialect_of(launcher)
    if kind:
        return kind
    path = shutil.which(launcher, path=here.get("PATH", os.defpath))
    if path is None:
        raise UserError(f"there is no {launcher} on PATH")
    return launcher_kind(Path(path))


def _launch_line(
    words: Sequence[str], variables: Mapping[str, str], here: Mapping[str, str]
) -> Start:
    try:
        kind = dialect(words[0], here)
        line = read(words, kind, file_text)
        made = with_variables(words, kind, variables, here, file_text)
    except UserError as error:
        note = (
            f"ranks on other hosts may not be seen, since the launch line cannot be read: {error}"
        )
        return Start(tuple(words), _inherited(variables, here), notes=(note,))
    programs = tuple(each.words for each in line.programs)
    return Start(tuple(made), _inherited(variables, here), programs, tuple(hosts_of(line)))


def hosts_of(line: Line) -> list[str]:
    """Returns all hosts that a launch line names."""
    named = [*line.hosts, *(host for program in line.programs for host in program.hosts)]
    return list(dict.fromkeys(host.name for host in named))


def _inherited(variables: Mapping[str, str], here: Mapping[str, str]) -> dict[str, str]:
    """Returns an environment by which all started programs inherit the variables."""
    env = {**here, **variables, LIBRARY_VARIABLE: variables[PRELOAD]}
    env[PRELOAD] = joined(variables[PRELOAD], here.get(PRELOAD, ""))
    return env


def _alone(words: Sequence[str], here: Mapping[str, str]) -> tuple[str, ...]:
    """Returns a note if an MPI program without a launcher would run as one rank."""
    try:
        program = look(words, here)
    except UserError:
        return ()
    if program.kind == "script" or not program.uses_mpi:
        return ()
    note = f"there is no launcher in this line, so {words[0]} runs as one rank; begin it with"
    return (f"{note} mpirun or srun, or {_BY_US}",)
