# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Parses a launch line in the dialect of one launcher."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath

from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.inputs import read_text
from mpigauge.site.launch.lines import hydra, openmpi, platform, srun
from mpigauge.site.launch.lines.grammar import Files, Grammar
from mpigauge.site.launch.lines.line import Line

GRAMMARS: dict[str, Grammar] = {
    module.GRAMMAR.name: module.GRAMMAR for module in (openmpi, hydra, srun, platform)
}
DIALECTS = tuple(GRAMMARS)
LAUNCHERS = {
    "srun": "srun",
    "orterun": "openmpi",
    "prterun": "openmpi",
    "mpirun.openmpi": "openmpi",
    "mpiexec.openmpi": "openmpi",
    "mpiexec.hydra": "hydra",
    "mpirun.mpich": "hydra",
    "mpiexec.mpich": "hydra",
    "mpirun": "",
    "mpiexec": "",
}
"""The dialects of launchers, by name; empty: launchers of several MPIs have this name."""


def is_launcher(word: str) -> bool:
    """True if a program has the name of a launcher."""
    return PurePath(word).name in LAUNCHERS


def dialect_of(word: str) -> str:
    """Returns the dialect of a launcher, by its name; empty: the name is ambiguous or unknown."""
    return LAUNCHERS.get(PurePath(word).name, "")


def file_text(name: str) -> str:
    """Returns the contents of a file. UserError: it cannot be read."""
    return read_text(Path(name))


def read(words: Sequence[str], dialect: str, files: Files = file_text) -> Line:
    """Parses a line in a dialect: openmpi, hydra, srun or platform. UserError: it is not valid."""
    if dialect not in GRAMMARS:
        hint = did_you_mean(dialect, GRAMMARS) or f"; there are {', '.join(DIALECTS)}"
        raise UserError(f"there is no reader for lines of launchers called '{dialect}'{hint}")
    if not words:
        raise UserError("a launch line begins with a launcher, such as mpirun")
    return GRAMMARS[dialect].read(words, files)
