# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What we know of the settings that matter (catalogue.toml)."""

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
"""MPIs that cannot be had here: their settings are known by name only."""


@dataclass(frozen=True)
class SettingEntry:
    of: str
    """The MPI, or what is below or beside it: openmpi, mpich, intel, ucx, libfabric, hydra …"""
    variable: str
    """An environment variable; a star stands for any letters."""
    meaning: str
    legal: str
    read: Read = ""
    since: int = 0
    """The first major version of the MPI that has it."""
    before: int = 10**9
    """The first one that has it no longer."""
    moves: str = ""
    """The break over message sizes that it moves: one of MOVES; empty: none."""
    within: str = ""
    """node or network: where it acts; empty: in both."""
    names: tuple[str, ...] = ()
    """What the star stands for, for each variable that there is; without a star, and where it
    chooses an algorithm, the collectives that it is for. Empty: not told."""
    usual: int = 0
    """Its default in bytes; 0: not known, or it depends."""
    tested: bool = True
    """Whether there is an MPI here that has it, which a test asks."""

    @property
    def is_family(self) -> bool:
        """Whether it stands for several variables."""
        return "*" in self.variable

    def fits(self, variable: str) -> bool:
        return fnmatchcase(variable, self.variable)

    def variables(self, call: str = "") -> tuple[str, ...]:
        """The variables that it is known to stand for: all of them, or those of a collective, whose
        name is in lower case."""
        if not self.is_family:
            if not call or self._is_for(call):
                return (self.variable,)
            return ()
        names = [name for name in self.names if call in ("", name.lower())]
        return tuple(self.variable.replace("*", name) for name in names)

    def _is_for(self, call: str) -> bool:
        return not self.names or call in self.names

    def is_of_version(self, version: str) -> bool:
        """Whether an MPI of this version has it; yes where the version is not a number."""
        match = re.match(r"\d+", version)
        return match is None or self.since <= int(match[0]) < self.before


@cache
def entries() -> tuple[SettingEntry, ...]:
    """All entries in their order. ValueError: the file has a word that means nothing."""
    with FILE.open("rb") as file:
        found = tuple(SettingEntry(**_known(each)) for each in tomllib.load(file)["knob"])
    for entry in found:
        if entry.read not in READ_WORDS:
            raise ValueError(f"{FILE.name}: {entry.variable}: unknown time '{entry.read}'")
        if entry.moves not in ("", *MOVES):
            raise ValueError(f"{FILE.name}: {entry.variable}: unknown break '{entry.moves}'")
    return found


def _known(said: dict[str, Any]) -> dict[str, Any]:
    unknown = set(said) - {field.name for field in fields(SettingEntry)}
    if unknown:
        raise ValueError(f"{FILE.name}: {said.get('variable')}: unknown word {sorted(unknown)}")
    return said | {"names": tuple(said.get("names", ()))}
