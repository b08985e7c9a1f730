# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The settings of point-to-point messages that are worth trying, and their combinations.

Some have an effect only under a value of another: the segment size only if messages are segmented.
A point of the space sets the values that differ from the default, and no setting that would have no
effect with them (spaces.toml).
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
"""The value of a setting that is left at the MPI's default."""
Point = Mapping[str, str]
"""The values of settings, by name; empty: the default of the MPI."""


@dataclass(frozen=True)
class SpaceSetting:
    of: str
    """The name of the MPI."""
    name: str
    values: tuple[str, ...]
    """The values besides the default."""
    where: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Other settings, before it in the list, with the values under which it has an effect."""
    besides: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Settings required with any of these values; {} stands for the value."""
    within: str = ""
    """The range of its effect: node or network; empty: both."""
    least: int = 0
    most: int = 0
    """The bounds for a search by trials, which chooses a power of two; both 0: one of `values`."""

    def has_effect(self, point: Point) -> bool:
        """True if it has an effect with these other values."""
        return all(point.get(name, DEFAULT) == value for name, value in self.where.items())

    def set_to(self, value: str) -> dict[str, str]:
        """Returns the settings for this value."""
        others = {name: word.replace("{}", value) for name, word in self.besides.items()}
        return {self.name: value, **others}

    @property
    def powers(self) -> tuple[str, ...]:
        """The values for a search by trials, besides the default."""
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
    """Returns settings worth trying among ranks on this number of hosts, for the MPI of this name,
    or for the one that it is based on."""
    settings = []
    for each in _every():
        if each.of == kind_of(name) and (each.within != "network" or hosts > 1):
            settings.append(each)
    return tuple(settings)


def space_of(mpi: Mpi, hosts: int) -> tuple[SpaceSetting, ...]:
    """Returns the settings that this library has, under the names for its version; empty if nothing
    is known of its kind. UserError: the library does not work."""
    candidates = settings_worth_trying(mpi.name, hosts)
    if not candidates:
        return ()
    names = {name for knob in knobs(mpi) for name in (knob.variable, knob.control)}
    return tuple(each for each in candidates if each.name in names and _is_meant(each.name, mpi))


def _is_meant(name: str, mpi: Mpi) -> bool:
    """True if our catalogue has it for this version: a library may accept names of older ones.
    Versions of derived MPIs are their own."""
    return mpi.name in MADE_FROM or any(
        entry.is_of_version(mpi.version)
        for entry in catalogue.entries()
        if entry.fits(name) or entry.fits(f"OMPI_MCA_{name}")
    )


def points(space: Iterable[SpaceSetting]) -> list[Point]:
    """Returns all combinations except the default itself, each once."""
    combinations: list[dict[str, str]] = [{}]
    for setting in space:
        more = []
        for point in combinations:
            if setting.has_effect(point):
                for value in setting.values:
                    more.append({**point, **setting.set_to(value)})
        combinations += more
    return [point for point in combinations if point]


def drawn_point(
    space: Iterable[SpaceSetting], choose: Callable[[str, tuple[str, ...]], str]
) -> Point:
    """Draws one point, setting by setting. `choose` takes the name of a setting and its values, and
    returns one of these; it is not called for settings that would have no effect."""
    point: dict[str, str] = {}
    for setting in space:
        if setting.has_effect(point):
            value = choose(setting.name, (DEFAULT, *setting.powers))
            if value != DEFAULT:
                point |= setting.set_to(value)
    return point
