# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tests whether candidates give right results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.cli.output import tell
from mpigauge.model.suite_options import THREAD_LEVEL
from mpigauge.model.units import listed
from mpigauge.products.tune.faults import proof_of
from mpigauge.products.tune.measure.budget import TESTS
from mpigauge.products.tune.measure.task import AllArms, TuningTask
from mpigauge.products.tune.plan import (
    ODD_RANKS,
    RIGHT,
    right_alone_plan,
    right_plan,
)
from mpigauge.products.tune.result import Of, Tested, Tried, tried
from mpigauge.runs.store.tuned_rules import Fault
from mpigauge.site.mpi.rule_files.candidates import (
    Candidate,
)

if TYPE_CHECKING:
    from mpigauge.runs.store import Run


def right_candidates(task: TuningTask) -> tuple[dict[Of, list[Candidate]], list[Fault]]:
    """Returns candidates without a fault, by collective and ranks, and the faults of the others. A
    candidate with a fault at one number of ranks is excluded everywhere; one without time for its
    test, only there."""
    candidates: dict[Of, list[Candidate]] = {}
    for ranks in sorted({*task.ranks, 2, ODD_RANKS}):
        for each in task.candidates(ranks):
            candidates.setdefault((each.collective, ranks), []).append(each)
    level = task.request.suite_options.get(THREAD_LEVEL, "")
    outcome = _outcome_of(task, candidates)
    _report_untested(outcome)
    faults = []
    for fault in outcome.faults:
        own = candidates[fault.collective, fault.ranks]
        faults.append(replace(fault, proof=proof_of(fault, own, task.setup.mpi, level)))
    out = {(fault.collective, fault.candidate) for fault in faults}
    right = {
        (name, ranks): [
            each
            for each in own
            if (name, each.name) not in out and (name, ranks, each.name) not in outcome.untested
        ]
        for (name, ranks), own in candidates.items()
        if ranks in task.groups(name) and (name, "") not in out
    }
    return right, faults


def _report_untested(outcome: Tried) -> None:
    together: dict[tuple[str, int, str], list[str]] = {}
    for (name, ranks, arm), why in outcome.untested.items():
        together.setdefault((name, ranks, why), []).append(arm or "the default")
    for (name, ranks, why), arms in together.items():
        tell(f"{name} on {ranks} ranks, not tested: {listed(arms)}: {why}")


def _outcome_of(task: TuningTask, candidates: Mapping[Of, Sequence[Candidate]]) -> Tried:
    """Tests all candidates in one process first, if possible; those without a result are tested
    again in launches of their own."""
    together = _tried_together(task, candidates)
    alone = []
    for (name, ranks), own in candidates.items():
        for arm, settings in (("", {}), *arms_alone(task, own, ranks)):
            if (name, ranks, arm) not in together.tested | together.untested.keys():
                alone.append((name, ranks, arm, settings))
    if not alone:
        return together
    run = task.measured(TESTS, right_alone_plan(task.request, alone, task.where))
    again = tried_alone(run, [(name, ranks, arm) for name, ranks, arm, _ in alone])
    return Tried(
        together.right | again.right,
        (*together.faults, *again.faults),
        {**together.untested, **again.untested},
    )


def tried_alone(run: Run, alone: Sequence[Tested]) -> Tried:
    """Returns the results of candidates that were tested in a launch each, in this order. One whose
    launch ended without a result has a fault; one that was never launched is untested."""
    outcome = tried(run)
    launches = {each.launch for each in run.launches} | {each.launch for each in run.failures}
    lost, late = [], {}
    for number, tested in enumerate(alone):
        if tested in outcome.tested | outcome.untested.keys():
            continue
        if number in launches:
            lost.append(Fault(*tested, why_lost(run, *tested)))
        else:
            late[tested] = "no time was left"
    return replace(outcome, faults=(*outcome.faults, *lost), untested={**outcome.untested, **late})


def _tried_together(task: TuningTask, candidates: Mapping[Of, Sequence[Candidate]]) -> Tried:
    arms = arms_in_one_process(task, candidates)
    if arms is None:
        return Tried(frozenset(), ())
    return tried(task.measured("right", right_plan(task.request, arms, task.where)))


def why_lost(run: Run, name: str, ranks: int, arm: str) -> str:
    """Returns why the launch of a candidate gave no result."""
    parts = run.plan.get("parts") or ()
    identity = ([RIGHT.format(name)], ranks, arm)
    for failure in run.failures:
        part = parts[failure.launch % len(parts)]
        if (list(part["benchmarks"]), part["world_ranks"], part["arm"]) == identity:
            return failure.message
    skipped = [skip.reason for skip in run.skips if skip.key.get("arm") == arm]
    if skipped:
        return skipped[0]
    return f"a launch of {ranks} ranks brought nothing"


def arms_in_one_process(
    task: TuningTask, candidates: Mapping[Of, Sequence[Candidate]]
) -> AllArms | None:
    """Returns candidates as control variables of the library; None: it reads some only at start."""
    from mpigauge.site.mpi.settings import knobs
    from mpigauge.site.mpi.settings.inside import OutsideError, written

    every = knobs(task.setup.mpi)
    arms_by_collective: AllArms = {}
    for (name, ranks), own in candidates.items():
        try:
            values = written([task.forced(each, ranks) for each in own], every, task.setup.mpi)
        except OutsideError:
            return None
        arms = [(each.name, arm) for each, arm in zip(own, values, strict=True)]
        arms_by_collective.setdefault(name, {})[ranks] = list(arms)
    return arms_by_collective


def arms_alone(
    task: TuningTask, candidates: Iterable[Candidate], ranks: int
) -> list[tuple[str, Mapping[str, str]]]:
    """Returns candidates with the settings of launches of their own."""
    return [(each.name, task.forced(each, ranks)) for each in candidates]
