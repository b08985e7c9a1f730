# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The settings of messages from rank to rank that are worth trying, and their combinations.

Some have an effect only under a value of another: the size of a piece only where messages are cut
into pieces. A point of the space sets the values that differ from the default, and no setting that
would have no effect beside them (spaces.toml).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.model.mpi import MADE_FROM, kind_of
from mpigauge.site.mpi.settings import catalogue
from mpigauge.site.mpi.settings.known import knobs

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from mpigauge.model.mpi import Mpi

FILE = Path(__file__).with_name("spaces.toml")
DEFAULT = ""
"""In the place of a value: the setting is left as the MPI has it."""
Point = Mapping[str, str]
"""What is set, by name; nothing: the default of the MPI."""


@dataclass(frozen=True)
class SpaceSetting:
    of: str
    """The name of the MPI."""
    name: str
    values: tuple[str, ...]
    """Beside the default."""
    where: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Other settings, before it in the list, with the values under which it has an effect."""
    besides: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What has to be set with any of these values; {} stands for the value."""
    within: str = ""
    """node or network, where it acts on one of them only."""
    least: int = 0
    most: int = 0
    """Between which a search by trials may choose a power of two; both 0: one of `values`."""

    def has_effect(self, point: Point) -> bool:
        """Beside these other values."""
        return all(point.get(name, DEFAULT) == value for name, value in self.where.items())

    def set_to(self, value: str) -> dict[str, str]:
        """What gives it this value."""
        others = {name: word.replace("{}", value) for name, word in self.besides.items()}
        return {self.name: value, **others}

    @property
    def powers(self) -> tuple[str, ...]:
        """What a search by trials chooses among, beside the default."""
        if not self.most:
            return self.values
        exponents = range(self.least.bit_length() - 1, self.most.bit_length())
        return tuple(str(1 << exponent) for exponent in exponents)


@cache
def _every() -> tuple[SpaceSetting, ...]:
    with FILE.open("rb") as file:
        listed = tomllib.load(file)["setting"]
    return tuple(SpaceSetting(**{**each, "values": tuple(each["values"])}) for each in listed)


def settings_worth_trying(name: str, hosts: int) -> tuple[SpaceSetting, ...]:
    """Settings of the MPI of this name, or of that which it was made from, that are worth trying
    among ranks on so many hosts."""
    found = []
    for each in _every():
        if each.of == kind_of(name) and (each.within != "network" or hosts > 1):
            found.append(each)
    return tuple(found)


def space_of(mpi: Mpi, hosts: int) -> tuple[SpaceSetting, ...]:
    """The settings that exactly this library knows, under the names that are meant for its version;
    none where nothing is known of its kind. UserError: the library does not answer."""
    found = settings_worth_trying(mpi.name, hosts)
    if not found:
        return ()
    known = {name for knob in knobs(mpi) for name in (knob.variable, knob.control)}
    return tuple(each for each in found if each.name in known and _is_meant(each.name, mpi))


def _is_meant(name: str, mpi: Mpi) -> bool:
    """Whether our catalogue has it for this version: a library may know names of older ones.
    Versions of MPIs that were made from another are their own."""
    return mpi.name in MADE_FROM or any(
        entry.is_of_version(mpi.version)
        for entry in catalogue.entries()
        if entry.fits(name) or entry.fits(f"OMPI_MCA_{name}")
    )


def points(space: Iterable[SpaceSetting]) -> list[Point]:
    """All combinations but the default itself, each once."""
    found: list[dict[str, str]] = [{}]
    for setting in space:
        more = []
        for point in found:
            if setting.has_effect(point):
                for value in setting.values:
                    more.append({**point, **setting.set_to(value)})
        found += more
    return [point for point in found if point]


def drawn_point(
    space: Iterable[SpaceSetting], choose: Callable[[str, tuple[str, ...]], str]
) -> Point:
    """One point, setting by setting. `choose` takes the name of a setting and what it may be, and
    returns one of these; it is not asked for settings that would have no effect."""
    point: dict[str, str] = {}
    for setting in space:
        if setting.has_effect(point):
            value = choose(setting.name, (DEFAULT, *setting.powers))
            if value != DEFAULT:
                point |= setting.set_to(value)
    return point
