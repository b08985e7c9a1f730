# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Finds the causes: every module of causes/ is looked into once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from mpigauge.analyse.finding import Blind, Explanation, Finding
from mpigauge.analyse.seen import Seen
from mpigauge.model.modules import import_all

if TYPE_CHECKING:
    from mpigauge.store import Run

Look = Callable[[Seen], Iterable[Finding]]
Need = Callable[[Seen], str]
"""Says in words what a run has not; nothing where it has it."""


@dataclass(frozen=True)
class Cause:
    name: str
    about: str
    needs: tuple[Need, ...]
    look: Look


_registered: dict[str, Cause] = {}


def cause(name: str, about: str, *needs: Need) -> Callable[[Look], Look]:
    """Makes a function the look for the cause of this name, in runs that have what it needs."""

    def register(look: Look) -> Look:
        if name in _registered:
            raise RuntimeError(f"two causes are named '{name}'")
        _registered[name] = Cause(name, about, needs, look)
        return look

    return register


@cache
def all_causes() -> Mapping[str, Cause]:
    """All causes by name, in the order of names."""
    import_all(f"{__name__.rpartition('.')[0]}.causes")
    return MappingProxyType(dict(sorted(_registered.items())))


def explain(run: Run) -> Explanation:
    """What all causes find in this run, and which could not be looked for."""
    return explained(Seen.of(run))


def explained(seen: Seen) -> Explanation:
    run = seen.run
    findings: list[Finding] = []
    blind: dict[str, list[str]] = {sentence: [] for sentence in run.damaged}
    for each in all_causes().values():
        lacks = [words for need in each.needs if (words := need(seen))] if seen.rows else []
        for words in lacks:
            blind.setdefault(words, []).append(each.name)
        if seen.rows and not lacks:
            findings += [replace(said, cause=each.name) for said in each.look(seen)]
    return Explanation(
        findings=tuple(sorted(findings, key=_weight)),
        blind=tuple(Blind(reason, tuple(names)) for reason, names in blind.items()),
        looked_for=len(all_causes()),
        rows=len(seen.rows),
        launches=max((len(run.launches), *(row.launches for row in seen.rows))),
    )


def _weight(found: Finding) -> tuple[bool, float]:
    return not found.void, -found.cost if math.isfinite(found.cost) else 1.0
