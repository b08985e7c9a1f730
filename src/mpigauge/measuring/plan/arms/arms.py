# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The arms of a sweep: combinations of settings that are measured in turn, next to the default.

A block of a plan defines them: `grid` every combination of its values, `zip` the first of each,
then the second of each, `list` arms one by one. Several of them in a block are combined; several
blocks follow one another. `when` keeps the combinations that fulfil it, `mpi` limits the block to
these MPIs. Names are those of settings of the MPI; `env:NAME` is any variable.
"""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from mpigauge.measuring.plan.arms.condition import holds, names_in
from mpigauge.measuring.plan.arms.parse import is_name
from mpigauge.model.errors import UserError, nearest_or_all
from mpigauge.model.names import CONTROL
from mpigauge.model.option_table import OFFERED
from mpigauge.model.secrets import looks_secret

TRANSPORT = "transport"
"""The name of `--transport` among settings."""
ENV = "env:"
"""The prefix of a variable that is not a setting of the MPI. Conditions omit it."""
KEYS = ("grid", "zip", "list", "when", "mpi")
MOST_ARMS = 4096
MOST_COMBINATIONS = 1 << 16
"""The most combinations of a block, before a condition selects arms."""
Values = Mapping[str, str]
_TAKE_SEVERAL = frozenset(row.name for row in OFFERED if row.metavar.endswith(",…"))
"""Options for which each of several values is measured, whether or not anything is varied."""


@dataclass(frozen=True)
class Arm:
    values: Values = field(default_factory=dict, hash=False)
    control: bool = False

    @property
    def name(self) -> str:
        """The name of the arm as in the column `arm`; empty: the default."""
        if self.control:
            return CONTROL
        return " ".join(f"{name}={value}" for name, value in self.values.items())

    @property
    def transport(self) -> str:
        return self.values.get(TRANSPORT, "")

    @property
    def settings(self) -> dict[str, str]:
        """Settings of the MPI, by their names."""
        names = [name for name in self.values if name != TRANSPORT and not name.startswith(ENV)]
        return {name: self.values[name] for name in names}

    @property
    def env(self) -> dict[str, str]:
        """Variables that are not settings of the MPI, by their names."""
        variables = {}
        for name, value in self.values.items():
            if name.startswith(ENV):
                variables[_bare(name)] = value
        return variables


@dataclass(frozen=True)
class VaryBlock:
    grid: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    zipped: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    listed: tuple[Values, ...] = ()
    when: str = ""
    mpis: tuple[str, ...] = ()
    """Names of MPIs; empty: all."""

    def is_for(self, name: str, spec: str) -> bool:
        return not self.mpis or name in self.mpis or spec in self.mpis

    @property
    def combinations(self) -> int:
        """The number of combinations before the condition."""
        rows = min(map(len, self.zipped.values()), default=1)
        return math.prod(map(len, self.grid.values())) * rows * max(len(self.listed), 1)

    def values(self) -> Iterator[dict[str, str]]:
        """The values of each of its arms."""
        zipped = [dict(zip(self.zipped, row, strict=True)) for row in self._rows()]
        for chosen, row, one in product(product(*self.grid.values()), zipped, self.listed or ({},)):
            values = dict(zip(self.grid, chosen, strict=True)) | row | dict(one)
            if not self.when or holds(self.when, {_bare(name): values[name] for name in values}):
                yield values

    def _rows(self) -> list[tuple[str, ...]]:
        """The values of the zipped lists, place by place; one empty row without such lists."""
        return list(zip(*self.zipped.values(), strict=True)) or [()]


@dataclass(frozen=True)
class Places:
    """The places of a block and its keys in a file, for errors."""

    block: str
    keys: Mapping[str, str] = field(default_factory=dict, hash=False)

    def of(self, key: str) -> str:
        return self.keys.get(key, self.block)


def read_block(data: Mapping[str, Any], places: Places) -> VaryBlock:
    """A block of a plan file.

    UserError: an unknown key, an empty list, lists of different lengths in zip, a name twice.
    """
    for key in data:
        if key not in KEYS:
            hint = nearest_or_all(key, KEYS)
            raise UserError(f"{places.of(key)}: there is no key '{key}' in [[vary]]{hint}")
    grid = _lists(data.get("grid", {}), "grid", places)
    zipped = _lists(data.get("zip", {}), "zip", places)
    listed = tuple(_arm(each, places) for each in _list(data.get("list", []), "list", places))
    lengths = sorted({len(values) for values in zipped.values()})
    if len(lengths) > 1:
        raise UserError(
            f"{places.of('zip')}: the lists of zip have different lengths: "
            f"{' and '.join(map(str, lengths))}"
        )
    of_lists: dict[str, None] = {}
    for each in listed:
        of_lists |= dict.fromkeys(each)
    names = [*grid, *zipped, *of_lists]
    if not names:
        raise UserError(f"{places.block}: nothing is varied; give it a grid, a zip or a list")
    bare = _varied_once(names, places)
    when = _word(data.get("when", ""), "when", places)
    if when:
        _check_condition(when, bare, places)
    return VaryBlock(grid, zipped, listed, when, _mpis(data.get("mpi"), places))


def _varied_once(names: Iterable[str], places: Places) -> list[str]:
    """The names as conditions use them. UserError: one is invalid, or is there twice."""
    bare = [_bare(name) for name in names]
    times = Counter(bare)
    for name in names:
        check_name(name, places.of(name))
        if times[_bare(name)] > 1:
            raise UserError(
                f"{places.of(name)}: {name} is varied twice; name it in one of grid, zip and list"
            )
    return bare


def _mpis(data: Any, places: Places) -> tuple[str, ...]:
    """A name or a list of names; empty: all MPIs."""
    if not data:
        return ()
    if isinstance(data, str):
        return (data,)
    return tuple(_word(each, "mpi", places) for each in _list(data, "mpi", places))


def _check_condition(when: str, names: Iterable[str], places: Places) -> None:
    """UserError: the condition is invalid. Checked before values are known, for an error at its
    place."""
    unknown = names_in(when) - set(names)
    for name in sorted(unknown):
        hint = nearest_or_all(name, names)
        raise UserError(f"{places.of('when')}: '{when}' names {name}, which is not varied{hint}")


def grid_of(words: Iterable[str]) -> VaryBlock | None:
    """The block for --vary NAME=a,b, with every combination; values with commas are separated by
    bars: 'UCX_TLS=self,sm|self,tcp'. UserError: it is not of this form."""
    grid: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        values = tuple(value.strip() for value in text.split("|" if "|" in text else ","))
        if not equals or not name or not all(values):
            raise UserError(f"--vary: '{word}' is not of the form NAME=VALUE,VALUE")
        check_name(name, "--vary")
        if name in grid:
            raise UserError(f"--vary: {name} is there twice; write all its values once: {name}=a,b")
        grid[name] = _apart(values, f"--vary {word}")
    if grid:
        return VaryBlock(grid)
    return None


def arms(blocks: Sequence[VaryBlock], mpi: str, spec: str, control: bool) -> tuple[Arm, ...]:
    """The default, each arm once, and the default once more.

    `mpi`, `spec`: the name of the MPI, and the word with which the user selected it. UserError: no
    arm is left, or too many.
    """
    by_name: dict[str, Arm] = {}
    for block in blocks:
        if not block.is_for(mpi, spec):
            continue
        if block.combinations > MOST_COMBINATIONS:
            raise UserError(
                f"a block of [[vary]] has {block.combinations:.4g} combinations, of which `when` "
                f"may leave some; the most is {MOST_COMBINATIONS}: vary less at a time"
            )
        for values in block.values():
            arm = Arm(values)
            by_name.setdefault(arm.name, arm)
            if len(by_name) > MOST_ARMS:
                raise UserError(f"there are more than {MOST_ARMS} arms; vary less at a time")
    if not by_name:
        raise UserError(f"nothing is varied for {mpi}: no block of [[vary]] leaves an arm for it")
    return (Arm(), *by_name.values(), *([Arm(control=True)] if control else []))


def options_of(arm: str) -> str:
    """The options that give one run the values of an arm, from the arm's name."""
    return " ".join(map(_option, re.split(r" (?=\S+=)", arm)))


def _option(setting: str) -> str:
    name, _, value = setting.partition("=")
    if name == TRANSPORT:
        return f"--transport {shlex.quote(value)}"
    if name.startswith(ENV):
        return f"--env {shlex.quote(_bare(setting))}"
    return f"--set {shlex.quote(setting)}"


def check_name(name: str, place: str) -> None:
    """UserError: no name of a variable follows `env:`, or the name is an option of mpigauge."""
    option = name.replace("_", "-")
    if option in _TAKE_SEVERAL:
        raise UserError(
            f"{place}: {name} is not a setting of the MPI; --{option} with several values measures "
            "each of them with every arm"
        )
    if looks_secret(_bare(name)):
        raise UserError(
            f"{place}: the values of {_bare(name)} look secret, and values of varied settings are "
            "stored with each row; pass it with --env"
        )
    if name.startswith(ENV) and not is_name(_bare(name)):
        raise UserError(f"{place}: '{name}' names no variable; write env:NAME, such as env:HOME")


def _bare(name: str) -> str:
    return name.removeprefix(ENV)


def _lists(data: Any, key: str, places: Places) -> dict[str, tuple[str, ...]]:
    if not isinstance(data, Mapping):
        raise UserError(
            f"{places.of(key)}: {key} is not a table; write {key} = {{ NAME = [1, 2] }}"
        )
    lists = {}
    for name, values in data.items():
        texts = [_text(value, name, places) for value in _list(values, name, places)]
        lists[name] = _apart(texts, f"{places.of(name)}: {name}")
    return lists


def _list(data: Any, key: str, places: Places) -> list[Any]:
    if not isinstance(data, list):
        raise UserError(f"{places.of(key)}: {key} is not a list; write {key} = [ … ]")
    if key != "list" and not data:
        raise UserError(f"{places.of(key)}: {key} has no values; name at least one")
    return data


def _arm(data: Any, places: Places) -> Values:
    if not isinstance(data, Mapping) or not data:
        raise UserError(
            f"{places.of('list')}: each of list is a table of settings, as {{ NAME = 1 }}"
        )
    return {name: _text(value, name, places) for name, value in data.items()}


def _text(value: Any, name: str, places: Places) -> str:
    """A value as an environment variable holds it."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (str, int, float)):
        return str(value)
    raise UserError(
        f"{places.of(name)}: {name} has a value that is neither text nor a number: {value}"
    )


def _word(value: Any, key: str, places: Places) -> str:
    if not isinstance(value, str):
        raise UserError(f"{places.of(key)}: {key} is not text in quotes")
    return value


def _apart(values: Sequence[str], place: str) -> tuple[str, ...]:
    for value, times in Counter(values).items():
        if times > 1:
            raise UserError(f"{place} has the value {value} twice; name each once")
    return tuple(values)
