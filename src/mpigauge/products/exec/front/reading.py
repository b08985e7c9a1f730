# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the dialect of a launch line that its launcher's name does not give."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.launch.lines import read
from mpigauge.site.launch.lines.read import dialect_of, file_text
from mpigauge.site.mpi.programs import look

if TYPE_CHECKING:
    from mpigauge.site.launch.lines import Line
    from mpigauge.site.launch.lines.line import Environment
    from mpigauge.site.mpi.programs import Look

DIALECTS = ("openmpi", "hydra", "platform")
"""The dialects that launchers called mpirun may have; the usual ones first."""
STANDING_OPTIONS = "MPIRUN_OPTIONS"
_OF_ABI = {"ompi": "openmpi", "mpich": "hydra", "std": "hydra"}


@dataclass(frozen=True)
class _Reading:
    dialect: str
    line: Line
    programs: tuple[Look, ...]
    """The programs of the line that exist."""

    def fit(self) -> tuple[bool, bool, int]:
        """The better the larger: its programs are there, they were made for the MPI whose words
        these are, and few words have no counterpart."""
        there = len(self.programs) == len(self.line.programs)
        made_for = any(_OF_ABI.get(kind) == self.dialect for each in self.programs
                       for kind in each.abis)  # fmt: skip
        platform = any("Platform" in label for each in self.programs for label in each.unknown)
        return there, made_for or (platform and self.dialect == "platform"), -len(self.line.without)


def read_any(
    words: Sequence[str],
    here: Mapping[str, str],
    dialect: str = "",
    files: Callable[[str], str] = file_text,
) -> Line:
    """The launch line, parsed. `dialect`: that of its words; empty: the one of the launcher's name,
    else the one that fits best. UserError: none can read it."""
    named = dialect or dialect_of(words[0])
    if named:
        return _read(words, named, here, files)
    readings, problems = [], []
    for each in DIALECTS:
        try:
            readings.append(_reading(words, each, here, files))
        except UserError as error:
            problems.append(str(error))
    if not readings:
        raise UserError(f"{problems[0]}; nor can it be read as words of Hydra or Platform MPI")
    return max(readings, key=_Reading.fit).line


def _read(
    words: Sequence[str], dialect: str, here: Mapping[str, str], files: Callable[[str], str]
) -> Line:
    line = read(_with_standing_options(words, dialect, here), dialect, files)
    if dialect != "platform":
        return line
    programs = (replace(each, env=_extended(each.env, here)) for each in line.programs)
    return replace(line, programs=tuple(programs))


def _extended(env: Environment, here: Mapping[str, str]) -> Environment:
    """The variables of Platform MPI's `-e NAME=%NAME:more`, which extends the value that is there
    ("Setting environment variables on the command line")."""
    sets = {name: text.replace(f"%{name}", here.get(name, "")) for name, text in env.sets.items()}
    return replace(env, sets=sets)


def _with_standing_options(
    words: Sequence[str], dialect: str, here: Mapping[str, str]
) -> Sequence[str]:
    """A launch line with the options that its launcher takes from the environment: Platform MPI's
    reads those of MPIRUN_OPTIONS before its own. UserError: a quotation in it has no end."""
    options = here.get(STANDING_OPTIONS, "") if dialect == "platform" else ""
    try:
        return [words[0], *shlex.split(options), *words[1:]]
    except ValueError as error:
        raise UserError(f"{STANDING_OPTIONS}='{options}': {str(error).lower()}") from None


def _reading(
    words: Sequence[str], dialect: str, here: Mapping[str, str], files: Callable[[str], str]
) -> _Reading:
    line = _read(words, dialect, here, files)
    programs = []
    for program in line.programs:
        try:
            programs.append(look(program.words, here, Path(program.wdir)))
        except UserError:
            continue
    return _Reading(dialect, line, tuple(programs))
