# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds what the files of a package offer by name: launchers, readers, checks, commands and others.

A file adds what it defines to its registry while it is imported, so a new file is all that a new
entry takes. No file is imported before the registry is asked for something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, runtime_checkable

from mpigauge.model.errors import UserError, no_such

if TYPE_CHECKING:
    from types import ModuleType

T = TypeVar("T")


def which(program: str) -> str | None:
    """The path of a program that can be started by this name; None: there is none."""
    import shutil

    return shutil.which(program)


@dataclass(frozen=True)
class Here:
    """What an entry may need of the place where the program runs."""

    batch_system: str = ""
    """The batch system in a job of which we are; empty: we are in no job."""
    find_program: Callable[[str], str | None] = which


@runtime_checkable
class Conditional(Protocol):
    """An entry that cannot be used everywhere."""

    def missing(self, here: Here) -> str:
        """Why it cannot be used here, as what follows its name in a sentence; empty: it can."""


def modules_in(package: str) -> dict[str, str]:
    """Where each file of this package is imported from, by its name; folders hold no entries."""
    found = iter_modules(import_module(package).__path__)
    return {each.name: f"{package}.{each.name}" for each in found if not each.ispkg}


class Registry(Mapping[str, T], Generic[T]):
    """The entries of one package by their names, in the order of names.

    In place of a package there may be a function that finds the modules of entries that lie in
    several: where each is imported from, by its name.

    `what` says in one word what an entry is, and `option` where a user names one; both are for
    messages. Normally every file of the package is imported when the registry is first asked, and
    adds its entries by `add`. With `make_entry` each file is one entry that has the file's name:
    only the file that is asked for is imported, and the function makes the entry of it.
    """

    def __init__(
        self,
        what: str,
        package: str | Callable[[], Mapping[str, str]],
        option: str = "",
        make_entry: Callable[[str, ModuleType], T] | None = None,
    ) -> None:
        self._what = what
        self._find_modules = partial(modules_in, package) if isinstance(package, str) else package
        self._option = option
        self._make_entry = make_entry
        self._entries: dict[str, T] = {}
        self._names: tuple[str, ...] | None = None

    def add(self, name: str, entry: T) -> T:
        """RuntimeError: there is another one of this name, which ends the program."""
        if name in self._entries:
            raise RuntimeError(f"two {self._what}s are named '{name}'")
        self._entries[name] = entry
        return entry

    def find(self, name: str) -> T:
        """The entry of this name. UserError: there is none."""
        if name not in self:
            raise no_such(self._what, name, self, self._option)
        return self[name]

    def find_usable(self, name: str, here: Here) -> T:
        """The entry of this name. UserError: there is none, or it cannot be used here."""
        found = self.find(name)
        if reason := self.missing(name, here):
            raise UserError(f"{self._option or self._what} {name} {reason}")
        return found

    def missing(self, name: str, here: Here) -> str:
        """Why the entry cannot be used here, in its own words; empty: it can."""
        found = self[name]
        if isinstance(found, Conditional):
            return found.missing(here)
        return ""

    def usable(self, here: Here) -> list[T]:
        """The entries that can be used here."""
        found: list[T] = []
        for name, entry in self.items():
            if not self.missing(name, here):
                found.append(entry)
        return found

    def __getitem__(self, name: str) -> T:
        if name not in self._all_names():
            raise KeyError(name)
        if name not in self._entries and self._make_entry is not None:
            self._entries[name] = self._make_entry(name, import_module(self._modules[name]))
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all_names())

    def __len__(self) -> int:
        return len(self._all_names())

    def __contains__(self, name: object) -> bool:
        return name in self._all_names()

    def _all_names(self) -> tuple[str, ...]:
        if self._names is None:
            if self._make_entry is None:
                for module in self._modules.values():
                    import_module(module)
            self._names = tuple(sorted(self._modules if self._make_entry else self._entries))
        return self._names

    @cached_property
    def _modules(self) -> Mapping[str, str]:
        return self._find_modules()
