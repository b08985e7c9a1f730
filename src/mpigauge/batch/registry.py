# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the batch systems: every module of this folder is looked into once."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from mpigauge.batch.system import Given, System
from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.hosts import Named

_registered: dict[str, System] = {}


def batch_system(kind: type[System]) -> type[System]:
    """Makes a class the batch system of its name."""
    if kind.name in _registered:
        raise RuntimeError(f"two batch systems are named '{kind.name}'")
    _registered[kind.name] = kind()
    return kind


@cache
def systems() -> Mapping[str, System]:
    package = importlib.import_module(__name__.rpartition(".")[0])
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    return MappingProxyType(_registered)


def system(name: str) -> System:
    known = systems()
    if name not in known:
        hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
        raise UserError(f"--system: there is no batch system '{name}'{hint}")
    return known[name]


def here(environment: Mapping[str, str]) -> Given | None:
    """The job that we are in; None: there is none."""
    for each in systems().values():
        if job := environment.get(each.variable):
            return Given(each, job, environment)
    return None


def hosts(given: Given | None) -> tuple[Named, ...]:
    """Those of the job that we are in, with the ranks of each; none: it does not say.

    UserError: what it says cannot be understood.
    """
    return given.system.hosts(given.environment, _read) if given else ()


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise UserError(
            f"the batch system's list of hosts, {file}, cannot be read: {why}"
        ) from None
