# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The algorithms of collectives that may be measured and written into rules (candidates.toml)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mpigauge.model.mpi import MADE_FROM, kind_of
from mpigauge.site.mpi.settings.known import knobs

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi

FILE = Path(__file__).with_name("candidates.toml")
Ranks = Literal["", "power of two", "even", "two", "four or more"]


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
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What a rule has to say of the algorithm besides, such as its radix k."""
    not_for: tuple[str, ...] = ()
    """Conditions under which a rule leaves the call to the default."""
    ranks: Ranks = ""

    def fits(self, ranks: int) -> bool:
        """Whether it can work among so many."""
        if self.ranks == "two":
            return ranks == 2
        if self.ranks == "four or more":
            return ranks >= 4
        if self.ranks == "even":
            return ranks % 2 == 0
        return self.ranks == "" or ranks & (ranks - 1) == 0


def known_to(mpi: Mpi, every: Iterable[Candidate]) -> list[Candidate]:
    """The candidates that exactly this library can be told to use, by what it says of its settings:
    of an MPI that was made from another some may be gone. UserError: it does not answer."""
    if mpi.name not in MADE_FROM:
        return list(every)
    choices = {}
    for knob in knobs(mpi):
        choices[knob.variable] = choices[knob.control] = knob.choices
    found: list[Candidate] = []
    for each in every:
        if all(
            name in choices and (not choices[name] or value.isdigit() or value in choices[name])
            for name, value in each.settings.items()
        ):
            found.append(each)
    return found


@cache
def candidates_of(mpi: str) -> tuple[Candidate, ...]:
    """All of this MPI, or of that which it was made from; none where no algorithms are known."""
    with FILE.open("rb") as file:
        said = tomllib.load(file)
    every = [_candidate(each) for each in said["candidate"]]
    every += [one for each in said["presets"] for one in _presets(**each)]
    return tuple(each for each in every if each.of == kind_of(mpi))


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
