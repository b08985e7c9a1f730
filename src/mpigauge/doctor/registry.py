# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the checks: every module of checks/ is looked into once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from mpigauge.doctor.finding import STATES, Finding, Host
from mpigauge.model.errors import UserError, did_you_mean
from mpigauge.model.modules import import_all

Look = Callable[[Host], Iterable[Finding]]


@dataclass(frozen=True)
class Check:
    name: str
    about: str
    look: Look


_registered: dict[str, Check] = {}


def check(name: str, about: str) -> Callable[[Look], Look]:
    """Makes a function the check of this name."""

    def register(look: Look) -> Look:
        if name in _registered:
            raise RuntimeError(f"two checks are named '{name}'")
        _registered[name] = Check(name, about, look)
        return look

    return register


@cache
def all_checks() -> Mapping[str, Check]:
    """All checks by name, in the order of names."""
    import_all(f"{__name__.rpartition('.')[0]}.checks")
    return MappingProxyType(dict(sorted(_registered.items())))


def diagnose(host: Host, names: Iterable[str] = ()) -> tuple[Finding, ...]:
    """What the checks of these names say, or all, the worst first. UserError: no such check."""
    known = all_checks()
    wanted = list(names) or list(known)
    for name in wanted:
        if name not in known:
            hint = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise UserError(f"there is no check '{name}'{hint}")
    found = [replace(said, check=name) for name in wanted for said in known[name].look(host)]
    return tuple(sorted(found, key=lambda finding: STATES.index(finding.state)))
