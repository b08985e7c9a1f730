# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A stored run as one side of a comparison: its numbers, and what holds for all of them."""

from __future__ import annotations

from dataclasses import fields
from statistics import median
from typing import TYPE_CHECKING

from mpigauge.model.mpi import KernelBuild
from mpigauge.result.compare.side import Side
from mpigauge.result.facts import tuned_in_words

if TYPE_CHECKING:
    from mpigauge.result.compare.items import Item
    from mpigauge.runs.store import Run


def side_of(name: str, run: Run, held: tuple[Item, ...]) -> Side:
    """A run as a side of a comparison, with what that has to know of the whole run."""
    return Side(name, held, starts_of(run), facts_of(run), lost_ratio_of(run), run_alone=True)


def starts_of(run: Run) -> dict[int, str]:
    """When each launch began."""
    return {launch.launch: launch.time for launch in run.launches}


def facts_of(run: Run) -> dict[str, str]:
    """What a comparison has to say where it differs: on how many hosts ranks were, what was set,
    which rules of a tuning the MPI followed, by whom the kernels were made."""
    told = {**(run.plan.get("env") or {}), **(run.plan.get("settings") or {})}
    of_rules = (run.header.get("tuned") or {}).get("settings") or {}
    words = (f"{name}={value}" for name, value in told.items() if name not in of_rules)
    facts = {
        "settings": " ".join(words) or "none",
        "rules": tuned_in_words(run.header) or "the MPI's own",
    }
    hosts = {rank.host for rank in run.ranks}
    facts |= {"hosts": str(len(hosts))} if hosts else {}
    made = kernels_of(run)
    return facts | ({"kernels": made.words} if made else {})


def kernels_of(run: Run) -> KernelBuild | None:
    """How the kernels were made that measured it; None: it does not say."""
    said = run.passport.get("kernels") or {}
    known = {field.name: str(said.get(field.name) or "") for field in fields(KernelBuild)}
    if known["sources"]:
        return KernelBuild(**known)
    return None


def lost_ratio_of(run: Run) -> float:
    """What others usually took of a core; 0 where nobody looked."""
    return median([noise.lost_ratio for noise in run.noise] or [0.0])
