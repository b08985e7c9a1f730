# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The registry of causes, each defined in a file of causes/, and what they find in a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.model.registry import Registry
from mpigauge.model.units import listed
from mpigauge.products.explain.needs import REPEATED
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
    """The kinds of benchmarks that it applies to."""
    sure_from: int
    """The number of launches; findings from fewer are tentative."""
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
    """The findings of all causes in this run, and the causes that could not be examined."""
    return explained(RunView.of(run))


def explained(view: RunView) -> Explanation:
    """The findings of all causes in this view, and the causes that could not be examined."""
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
            findings += [_with_cause(each, finding) for finding in each.look(part)]
    findings.sort(key=_weight)
    return Explanation(
        findings=tuple(findings),
        blind=tuple(Blind(reason, tuple(names)) for reason, names in blind.items()),
        looked_for=len(CAUSES),
        rows=len(view.rows),
        launches=max(launches),
    )


def _lacks(cause: Cause, part: RunView) -> list[str]:
    """The reasons why a cause cannot be looked for in its rows; empty: it can."""
    if not part.rows:
        return [f"none of its benchmarks is about {kinds_in_words(cause.of)}"]
    lacks = [need(part) for need in cause.needs]
    return [words for words in lacks if words]


def kinds_in_words(of: frozenset[Does]) -> str:
    """The kinds of benchmarks in words, for a sentence; empty: all."""
    if of >= ANY - {"unknown"}:
        return ""
    if of == CALLING:
        return "MPI"
    return listed(words for does, words in ABOUT.items() if does in of)


def _with_cause(cause: Cause, finding: Finding) -> Finding:
    """The finding with the name of its cause; tentative, with the reason, if too few launches show
    it."""
    least = min((row.launches for row in finding.rows), default=cause.sure_from)
    tentative = _few(least) if least < cause.sure_from else ""
    return replace(finding, cause=cause.name, tentative=tentative)


def _few(launches: int) -> str:
    had = "one launch shows it" if launches == 1 else f"{launches} launches show it"
    return f"{had}, too few to distinguish it from chance; with {REPEATED} or more it counts"


def _weight(finding: Finding) -> tuple[bool, bool, float]:
    known_cost = -finding.cost if math.isfinite(finding.cost) else 1.0
    return not finding.void, bool(finding.tentative), known_cost
