# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of checks, each defined in a file of checks/."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from mpigauge.model.registry import Registry
from mpigauge.products.doctor.check_finding import STATES, CheckFinding, Host

Look = Callable[[Host], Iterable[CheckFinding]]


@dataclass(frozen=True)
class Check:
    name: str
    about: str
    look: Look


CHECKS = Registry[Check]("check", f"{__name__.rpartition('.')[0]}.checks")


def check(name: str, about: str) -> Callable[[Look], Look]:
    """Makes a function the check of this name."""

    def register(look: Look) -> Look:
        CHECKS.add(name, Check(name, about, look))
        return look

    return register


def diagnose(host: Host, names: Iterable[str] = ()) -> tuple[CheckFinding, ...]:
    """The findings of the checks of these names, or of all, the worst first. UserError: no such
    check."""
    checks = [CHECKS.find(name) for name in names] or CHECKS.values()
    findings = [replace(each, check=check.name) for check in checks for each in check.look(host)]
    return tuple(sorted(findings, key=lambda finding: STATES.index(finding.state)))
