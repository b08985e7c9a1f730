# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The algorithms of collectives that can be measured and written into rules (candidates.toml)."""

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
    """Settings that force it for all sizes."""
    algorithm: str
    """Its name in a rule."""
    composition: str = ""
    """The device's composition of the collective, if a rule needs it."""
    parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Parameters of the algorithm that a rule needs, such as its radix k."""
    not_for: tuple[str, ...] = ()
    """Conditions under which a rule leaves the call to the default."""
    ranks: Ranks = ""

    def fits(self, ranks: int) -> bool:
        """True if it supports this number of ranks."""
        if self.ranks == "two":
            return ranks == 2
        if self.ranks == "four or more":
            return ranks >= 4
        if self.ranks == "even":
            return ranks % 2 == 0
        return self.ranks == "" or ranks & (ranks - 1) == 0


def known_to(mpi: Mpi, every: Iterable[Candidate]) -> list[Candidate]:
    """Returns the candidates that this library supports, by its settings: a derived MPI may lack
    some. UserError: it does not work."""
    if mpi.name not in MADE_FROM:
        return list(every)
    choices = {}
    for knob in knobs(mpi):
        choices[knob.variable] = choices[knob.control] = knob.choices
    supported: list[Candidate] = []
    for each in every:
        if all(
            name in choices and (not choices[name] or value.isdigit() or value in choices[name])
            for name, value in each.settings.items()
        ):
            supported.append(each)
    return supported


@cache
def candidates_of(mpi: str) -> tuple[Candidate, ...]:
    """Returns all candidates of this MPI, or of the one that it is based on; empty: unknown."""
    with FILE.open("rb") as file:
        tables = tomllib.load(file)
    every = [_candidate(each) for each in tables["candidate"]]
    every += [one for each in tables["presets"] for one in _presets(**each)]
    return tuple(each for each in every if each.of == kind_of(mpi))


def collectives_of(mpi: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.collective for each in candidates_of(mpi)))


def find_candidate(every: Iterable[Candidate], collective: str, name: str) -> Candidate:
    """Returns the candidate of this name. KeyError: there is none."""
    for each in every:
        if (each.collective, each.name) == (collective, name):
            return each
    raise KeyError(f"{collective} {name}")


def _presets(of: str, collective: str, variable: str, last: int) -> Iterator[Candidate]:
    """Yields the presets from 1 to `last`; only their numbers are known."""
    for number in map(str, range(1, last + 1)):
        yield Candidate(of, collective, f"preset_{number}", {variable: number}, number)


def _candidate(table: Mapping[str, Any]) -> Candidate:
    return Candidate(**{**table, "not_for": tuple(table.get("not_for", ()))})
