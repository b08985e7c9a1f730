# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The catalogue of settings that matter (catalogue.toml)."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from mpigauge.model.knob import READ_WORDS, Read

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("catalogue.toml")
MOVES = ("eager", "single copy", "segment", "algorithm")
BY_NAME = {"mpt": "SGI MPT"}
"""MPIs that are not available for testing: only the names of their settings are known."""


@dataclass(frozen=True)
class SettingEntry:
    of: str
    """The MPI, or a layer below or next to it: openmpi, mpich, intel, ucx, libfabric, hydra …"""
    variable: str
    """An environment variable; a star matches any letters."""
    meaning: str
    legal: str
    read: Read = ""
    since: int = 0
    """The first major version of the MPI that has it."""
    before: int = 10**9
    """The first major version without it."""
    moves: str = ""
    """The break over message sizes that it moves: one of MOVES; empty: none."""
    within: str = ""
    """The range of its effect: node or network; empty: both."""
    names: tuple[str, ...] = ()
    """The values of the star, for each existing variable; without a star, and if it chooses an
    algorithm, its collectives. Empty: unknown."""
    usual: int = 0
    """Its default in bytes; 0: unknown, or variable."""
    tested: bool = True
    """True if an MPI here has it, which a test checks."""

    @property
    def is_family(self) -> bool:
        """True if it matches several variables."""
        return "*" in self.variable

    def fits(self, variable: str) -> bool:
        return fnmatchcase(variable, self.variable)

    def variables(self, call: str = "") -> tuple[str, ...]:
        """Returns the variables that it is known to match: all of them, or those of a collective,
        whose name is in lower case."""
        if not self.is_family:
            if not call or self._is_for(call):
                return (self.variable,)
            return ()
        names = [name for name in self.names if call in ("", name.lower())]
        return tuple(self.variable.replace("*", name) for name in names)

    def _is_for(self, call: str) -> bool:
        return not self.names or call in self.names

    def is_of_version(self, version: str) -> bool:
        """True if an MPI of this version has it, also if the version is not a number."""
        match = re.match(r"\d+", version)
        return match is None or self.since <= int(match[0]) < self.before


@cache
def entries() -> tuple[SettingEntry, ...]:
    """Returns all entries in their order. ValueError: the file has an unknown word."""
    with FILE.open("rb") as file:
        every = tuple(SettingEntry(**_members(each)) for each in tomllib.load(file)["knob"])
    for entry in every:
        if entry.read not in READ_WORDS:
            raise ValueError(f"{FILE.name}: {entry.variable}: unknown time '{entry.read}'")
        if entry.moves not in ("", *MOVES):
            raise ValueError(f"{FILE.name}: {entry.variable}: unknown break '{entry.moves}'")
    return every


def _members(table: dict[str, Any]) -> dict[str, Any]:
    unknown = set(table) - {field.name for field in fields(SettingEntry)}
    if unknown:
        raise ValueError(f"{FILE.name}: {table.get('variable')}: unknown word {sorted(unknown)}")
    return table | {"names": tuple(table.get("names", ()))}
