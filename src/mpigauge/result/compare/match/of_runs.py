# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A stored run as one side of a comparison: its numbers, and what holds for all of them."""

from __future__ import annotations

from dataclasses import fields
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from mpigauge.model.mpi import KernelBuild
from mpigauge.result.compare.match.side import Side
from mpigauge.result.facts import tuned_in_words

if TYPE_CHECKING:
    from mpigauge.result.compare.match.items import Item
    from mpigauge.runs.store import Run


def side_of(name: str, run: Run, held: tuple[Item, ...]) -> Side:
    """Makes a side of a comparison from a run's items and the facts of the whole run."""
    return Side(name, held, starts_of(run), facts_of(run), lost_ratio_of(run), run_alone=True)


class SweptSettings(NamedTuple):
    """The settings of a sweep."""

    names: tuple[str, ...]
    """All but the default, as they were typed."""
    failed: frozenset[str]
    """The settings of which a launch failed."""


def settings_of_sweep(run: Run) -> SweptSettings:
    """The settings that a run was planned with; none: it is no sweep."""
    names: dict[str, None] = {}
    for part in run.plan.get("parts") or ():
        shared = [str(name) for name, _ in part.get("arms") or ()]
        names |= dict.fromkeys(shared or [str(part.get("arm") or "")])
    names.pop("", None)
    failed = set()
    for name in names:
        if any(f" ({name}) failed: " in failure.message for failure in run.failures):
            failed.add(name)
    return SweptSettings(tuple(names), frozenset(failed))


def starts_of(run: Run) -> dict[int, str]:
    """Returns the start time of each launch."""
    return {launch.launch: launch.time for launch in run.launches}


def facts_of(run: Run) -> dict[str, str]:
    """Returns the facts that a comparison reports if they differ: the number of hosts, settings,
    tuned rules, and the build of the kernels."""
    settings = {**(run.plan.get("env") or {}), **(run.plan.get("settings") or {})}
    of_rules = (run.header.get("tuned") or {}).get("settings") or {}
    words = (f"{name}={value}" for name, value in settings.items() if name not in of_rules)
    facts = {
        "settings": " ".join(words) or "none",
        "rules": tuned_in_words(run.header) or "the MPI's own",
    }
    hosts = {rank.host for rank in run.ranks}
    facts |= {"hosts": str(len(hosts))} if hosts else {}
    made = kernels_of(run)
    return facts | ({"kernels": made.words} if made else {})


def kernels_of(run: Run) -> KernelBuild | None:
    """Returns how the run's kernels were built; None: not recorded."""
    build = run.passport.get("kernels") or {}
    values = {field.name: str(build.get(field.name) or "") for field in fields(KernelBuild)}
    if values["sources"]:
        return KernelBuild(**values)
    return None


def lost_ratio_of(run: Run) -> float:
    """Returns the median share of a core lost to others; 0 if it was not measured."""
    return median([noise.lost_ratio for noise in run.noise] or [0.0])
