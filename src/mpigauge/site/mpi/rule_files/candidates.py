# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The algorithms of collectives that may be measured and written into rules (candidates.toml)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("candidates.toml")
Ranks = Literal["", "power of two", "even", "two"]


@dataclass(frozen=True)
class Candidate:
    of: str
    """The name of the MPI."""
    collective: str
    name: str
    settings: Mapping[str, str] = field(hash=False)
    """That force it for all sizes."""
    algorithm: str
    """Its name in a rule."""
    composition: str = ""
    """How the device puts the collective together, where a rule has to say that too."""
    not_for: tuple[str, ...] = ()
    """Conditions under which a rule leaves the call to the default."""
    ranks: Ranks = ""

    def fits(self, ranks: int) -> bool:
        """Whether it can work among so many."""
        if self.ranks == "two":
            return ranks == 2
        if self.ranks == "even":
            return ranks % 2 == 0
        return self.ranks == "" or ranks & (ranks - 1) == 0


@cache
def candidates_of(mpi: str) -> tuple[Candidate, ...]:
    """All of this MPI; none where no rules are known for it."""
    with FILE.open("rb") as file:
        said = tomllib.load(file)
    every = [_candidate(each) for each in said["candidate"]]
    every += [one for each in said["presets"] for one in _presets(**each)]
    return tuple(each for each in every if each.of == mpi)


def collectives_of(mpi: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.collective for each in candidates_of(mpi)))


def find_candidate(every: Iterable[Candidate], collective: str, name: str) -> Candidate:
    """KeyError: there is none of this name."""
    for each in every:
        if (each.collective, each.name) == (collective, name):
            return each
    raise KeyError(f"{collective} {name}")


def _presets(of: str, collective: str, variable: str, last: int) -> Iterator[Candidate]:
    """Those with the numbers from 1 to `last`, which are all that is known of them."""
    for number in map(str, range(1, last + 1)):
        yield Candidate(of, collective, f"preset_{number}", {variable: number}, number)


def _candidate(said: Mapping[str, Any]) -> Candidate:
    return Candidate(**{**said, "not_for": tuple(said.get("not_for", ()))})
