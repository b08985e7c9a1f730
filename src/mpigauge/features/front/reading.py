# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""In whose words a launch line is written, where its launcher's name does not say it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.site.launch.lines import read
from mpigauge.site.launch.lines.read import dialect_of, file_text
from mpigauge.site.mpi.programs import look

if TYPE_CHECKING:
    from mpigauge.site.launch.lines import Line
    from mpigauge.site.mpi.programs import Look

DIALECTS = ("openmpi", "hydra", "platform")
"""Those that launchers called mpirun may have; the usual ones first."""
STANDING_OPTIONS = "MPIRUN_OPTIONS"
_OF_ABI = {"ompi": "openmpi", "mpich": "hydra", "std": "hydra"}


@dataclass(frozen=True)
class _Reading:
    dialect: str
    line: Line
    programs: tuple[Look, ...]
    """Of its programs those that are there."""

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
    """What a launch line says. `dialect`: whose words they are; empty: by the launcher's name, else
    whoever can read them best. UserError: nobody can."""
    named = dialect or dialect_of(words[0])
    if named:
        return read(_with_standing_options(words, named, here), named, files)
    readings, problems = [], []
    for each in DIALECTS:
        try:
            readings.append(_reading(words, each, here, files))
        except UserError as error:
            problems.append(str(error))
    if not readings:
        raise UserError(f"{problems[0]}; nor can it be read as words of Hydra or Platform MPI")
    return max(readings, key=_Reading.fit).line


def _with_standing_options(
    words: Sequence[str], dialect: str, here: Mapping[str, str]
) -> Sequence[str]:
    """A launch line with the options that its launcher takes from the environment: Platform MPI's
    reads those of MPIRUN_OPTIONS before its own. UserError: a quotation in it has no end."""
    said = here.get(STANDING_OPTIONS, "") if dialect == "platform" else ""
    try:
        return [words[0], *shlex.split(said), *words[1:]]
    except ValueError as error:
        raise UserError(f"{STANDING_OPTIONS}='{said}': {str(error).lower()}") from None


def _reading(
    words: Sequence[str], dialect: str, here: Mapping[str, str], files: Callable[[str], str]
) -> _Reading:
    line = read(_with_standing_options(words, dialect, here), dialect, files)
    found = []
    for program in line.programs:
        try:
            found.append(look(program.words, here, Path(program.wdir)))
        except UserError:
            continue
    return _Reading(dialect, line, tuple(found))
