# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of causes, each defined in a file of causes/, and what they find in a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.features.explain.needs import REPEATED
from mpigauge.model.registry import Registry
from mpigauge.model.units import listed
from mpigauge.result.finding import Blind, Explanation, Finding
from mpigauge.result.nature import ABOUT, ANY, CALLING
from mpigauge.result.run_view import RunView

if TYPE_CHECKING:
    from mpigauge.result.nature import Does
    from mpigauge.runs.store import Run

Look = Callable[[RunView], Iterable[Finding]]
Need = Callable[[RunView], str]
"""Says in words what a run has not; nothing where it has it."""


@dataclass(frozen=True)
class Cause:
    name: str
    about: str
    needs: tuple[Need, ...]
    of: frozenset[Does]
    """What benchmarks have to do for it to speak of them."""
    sure_from: int
    """Launches; what it says of fewer is tentative."""
    look: Look


CAUSES = Registry[Cause]("cause", f"{__name__.rpartition('.')[0]}.causes")


def cause(
    name: str, about: str, *needs: Need, of: frozenset[Does], sure_from: int
) -> Callable[[Look], Look]:
    """Makes a function the look for the cause of this name, in runs that have what it needs; it
    sees only the benchmarks `of` which it may speak."""

    def register(look: Look) -> Look:
        CAUSES.add(name, Cause(name, about, needs, of, sure_from, look))
        return look

    return register


def explain(run: Run) -> Explanation:
    """What all causes find in this run, and which could not be looked for."""
    return explained(RunView.of(run))


def explained(view: RunView) -> Explanation:
    """What all causes find in this view, and which could not be looked for."""
    run = view.run
    findings: list[Finding] = []
    blind: dict[str, list[str]] = {sentence: [] for sentence in run.damaged}
    launches = [len(run.launches), *(row.launches for row in view.rows)]
    parts: dict[frozenset[Does], RunView] = {}
    for each in CAUSES.values():
        if not view.rows:
            break
        if each.of not in parts:
            parts[each.of] = view.part(each.of)
        part = parts[each.of]
        lacks = _lacks(each, part)
        for words in lacks:
            blind.setdefault(words, []).append(each.name)
        if not lacks:
            findings += [_told(each, said) for said in each.look(part)]
    findings.sort(key=_weight)
    return Explanation(
        findings=tuple(findings),
        blind=tuple(Blind(reason, tuple(names)) for reason, names in blind.items()),
        looked_for=len(CAUSES),
        rows=len(view.rows),
        launches=max(launches),
    )


def _lacks(cause: Cause, part: RunView) -> list[str]:
    """Why a cause cannot be looked for in the rows that are of it; empty: it can."""
    if not part.rows:
        return [f"none of its benchmarks is about {kinds_in_words(cause.of)}"]
    lacks = [need(part) for need in cause.needs]
    return [words for words in lacks if words]


def kinds_in_words(of: frozenset[Does]) -> str:
    """What benchmarks do that are meant, for a sentence; empty: all are."""
    if of >= ANY - {"unknown"}:
        return ""
    if of == CALLING:
        return "MPI"
    return listed(words for does, words in ABOUT.items() if does in of)


def _told(cause: Cause, said: Finding) -> Finding:
    """With the name of the cause, and why it is no more than a hint where too few launches show
    it."""
    least = min((row.launches for row in said.rows), default=cause.sure_from)
    tentative = _few(least) if least < cause.sure_from else ""
    return replace(said, cause=cause.name, tentative=tentative)


def _few(launches: int) -> str:
    had = "one launch shows it" if launches == 1 else f"{launches} launches show it"
    return f"{had}, too few to tell it from chance; with {REPEATED} or more it counts"


def _weight(found: Finding) -> tuple[bool, bool, float]:
    known_cost = -found.cost if math.isfinite(found.cost) else 1.0
    return not found.void, bool(found.tentative), known_cost
