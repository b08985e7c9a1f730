# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the dialects: every module of this folder is looked into once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from mpigauge.model.modules import import_all
from mpigauge.model.mpi import Mpi
from mpigauge.model.transport import Offers, Transport

Dialect = Callable[[Mpi, Offers], Iterable[Transport]]
Reader = Callable[[str], str]
_registered: dict[str, Dialect] = {}


def dialect(*names: str) -> Callable[[Dialect], Dialect]:
    """Makes a function that of the MPIs of these names."""

    def register(function: Dialect) -> Dialect:
        for name in names:
            if name in _registered:
                raise RuntimeError(f"two dialects are for '{name}'")
            _registered[name] = function
        return function

    return register


@dataclass(frozen=True)
class Teller:
    """How an MPI is made to tell what it uses."""

    settings: Mapping[str, str] = field(hash=False)
    read: Callable[[str], str]
    """What it tells, out of all that a job printed; empty where it tells nothing."""


_tellers: dict[str, Teller] = {}


def teller(name: str, settings: Mapping[str, str]) -> Callable[[Reader], Reader]:
    """Makes a function the reader of what this MPI tells with these settings."""

    def register(function: Reader) -> Reader:
        _tellers[name] = Teller(settings, function)
        return function

    return register


def teller_of(name: str) -> Teller:
    """That of this MPI; for others one that asks nothing and reads nothing."""
    dialects()
    return _tellers.get(name, Teller({}, lambda _: ""))


@cache
def dialects() -> Mapping[str, Dialect]:
    import_all(__name__.rpartition(".")[0])
    return MappingProxyType(_registered)
