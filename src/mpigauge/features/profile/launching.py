# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""From what the user wants profiled to the words that start it, with our library in all ranks.

A launch line of the user keeps its words; its ranks are told variables in its launcher's own way.
A script gets them by its environment, and stand-ins for launchers on its PATH that do the same
(inner.py). A program alone is launched by us where the user says how.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.measure.campaign.agent import python_line
from mpigauge.model.errors import UserError
from mpigauge.site.launch.lines import is_launcher, read
from mpigauge.site.launch.lines.preload import PRELOAD, joined, with_variables
from mpigauge.site.launch.lines.read import LAUNCHERS, dialect_of, file_text
from mpigauge.site.mpi.layout import launcher_kind
from mpigauge.site.mpi.programs import look

if TYPE_CHECKING:
    from mpigauge.site.launch.lines import Line

FOLDER_VARIABLE = "MPIGAUGE_PROFILE"
LIBRARY_VARIABLE = "MPIGAUGE_PROFILE_LIBRARY"
"""Tells the stand-ins for launchers what to preload."""
STAND_INS = "launchers"
"""The folder with them."""
_BY_US = "let mpigauge launch the program, with --mpi MPI --np N -- PROGRAM"


@dataclass(frozen=True)
class Start:
    """What is started, again for each launch."""

    words: tuple[str, ...]
    env: Mapping[str, str] = field(hash=False)
    """All of it."""
    programs: tuple[tuple[str, ...], ...] = ()
    """The words of each program of MPI that is known before; none: a script finds them."""
    hosts: tuple[str, ...] = ()
    """Those that are known to have ranks."""
    notes: tuple[str, ...] = ()
    """Sentences for the user."""
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What has to be written before: texts by their paths."""


def user_line(words: Sequence[str], variables: Mapping[str, str], here: Mapping[str, str]) -> Start:
    """A launch line, a script or a program of the user, whose ranks find these variables.
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
    """A start with launchers of ours first on PATH: a script may start the real ones somewhere,
    whose ranks may be on hosts that inherit nothing."""
    stand_ins = folder / STAND_INS
    stand_ins.mkdir()
    for name in LAUNCHERS:
        if shutil.which(name, path=start.env.get("PATH")):
            _write_stand_in(stand_ins / name)
    path = start.env.get("PATH", os.defpath)
    return replace(start, env={**start.env, "PATH": f"{stand_ins}{os.pathsep}{path}"})


def _write_stand_in(file: Path) -> None:
    line = python_line("from mpigauge.features.profile.inner import main\nmain()", {})
    file.write_text(f'#!/bin/sh\n{line} "$0" "$@"\n', encoding="utf-8")
    file.chmod(0o755)


def dialect(launcher: str, here: Mapping[str, str]) -> str:
    """Whose words a launcher takes, by its name or by its own account. UserError: nobody's that we
    know, or it is not here."""
    known = dialect_of(launcher)
    if known:
        return known
    found = shutil.which(launcher, path=here.get("PATH", os.defpath))
    if found is None:
        raise UserError(f"there is no {launcher} on PATH")
    return launcher_kind(Path(found))


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
    return Start(tuple(made), here, programs, tuple(hosts_of(line)))


def hosts_of(line: Line) -> list[str]:
    """All that a launch line names."""
    named = [*line.hosts, *(host for program in line.programs for host in program.hosts)]
    return list(dict.fromkeys(host.name for host in named))


def _inherited(variables: Mapping[str, str], here: Mapping[str, str]) -> dict[str, str]:
    """An environment from which everything that is started has the variables."""
    env = {**here, **variables, LIBRARY_VARIABLE: variables[PRELOAD]}
    env[PRELOAD] = joined(variables[PRELOAD], here.get(PRELOAD, ""))
    return env


def _alone(words: Sequence[str], here: Mapping[str, str]) -> tuple[str, ...]:
    """A program of MPI without a launcher is one rank."""
    try:
        found = look(words, here)
    except UserError:
        return ()
    if found.kind == "script" or not found.uses_mpi:
        return ()
    said = f"there is no launcher in this line, so {words[0]} runs as one rank; begin it with"
    return (f"{said} mpirun or srun, or {_BY_US}",)
