# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds what the files of a package offer by name: launchers, readers, checks, commands and others.

A file adds its entries to the registry while it is imported, so a new entry takes no more than a
new file. No file is imported before the registry is used.
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
    """The path of a program that can be started by this name; None: it does not exist."""
    import shutil

    return shutil.which(program)


@dataclass(frozen=True)
class Here:
    """The environment of the running program, as far as entries depend on it."""

    batch_system: str = ""
    """The batch system whose job this process is in; empty: none."""
    find_program: Callable[[str], str | None] = which


@runtime_checkable
class Conditional(Protocol):
    """An entry that is not available everywhere."""

    def missing(self, here: Here) -> str:
        """The reason why the entry is not available here, to follow its name in a sentence; empty:
        it is available."""


def modules_in(package: str) -> dict[str, str]:
    """The import path of each file in this package, by its name; subpackages hold no entries."""
    modules = iter_modules(import_module(package).__path__)
    return {each.name: f"{package}.{each.name}" for each in modules if not each.ispkg}


class Registry(Mapping[str, T], Generic[T]):
    """The entries of one package by their names, in the order of names.

    Instead of a package, a function may find modules that are in several packages: the import path
    of each, by its name.

    `what` is one word for an entry, and `option` the option that takes its name; both are for
    messages. Normally every file of the package is imported when the registry is first used, and
    adds its entries by `add`. With `make_entry` each file is one entry with the file's name: only
    the requested file is imported, and the function makes its entry.
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
        """Adds an entry. RuntimeError: the name is already used, which is a bug."""
        if name in self._entries:
            raise RuntimeError(f"two {self._what}s are named '{name}'")
        self._entries[name] = entry
        return entry

    def find(self, name: str) -> T:
        """The entry of this name. UserError: it does not exist."""
        if name not in self:
            raise no_such(self._what, name, self, self._option)
        return self[name]

    def find_usable(self, name: str, here: Here) -> T:
        """The entry of this name. UserError: it does not exist, or it is not available here."""
        entry = self.find(name)
        if reason := self.missing(name, here):
            raise UserError(f"{self._option or self._what} {name} {reason}")
        return entry

    def missing(self, name: str, here: Here) -> str:
        """The entry's own reason why it is not available here; empty: it is available."""
        entry = self[name]
        if isinstance(entry, Conditional):
            return entry.missing(here)
        return ""

    def usable(self, here: Here) -> list[T]:
        """The entries that are available here."""
        entries: list[T] = []
        for name, entry in self.items():
            if not self.missing(name, here):
                entries.append(entry)
        return entries

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
