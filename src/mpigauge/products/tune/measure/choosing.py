# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Measures candidates and chooses rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.cli.output import tell
from mpigauge.model.units import listed
from mpigauge.products.tune.decide.halving import contenders
from mpigauge.products.tune.measure.refine import (
    MOST_HALVINGS,
    Edge,
    edges_of,
    moved,
    sizes_to_ask,
    widened,
)
from mpigauge.products.tune.measure.right import arms_alone, arms_in_one_process, right_candidates
from mpigauge.products.tune.measure.task import AllArms, TuningTask
from mpigauge.products.tune.plan import (
    grid_alone_plan,
    grid_plan,
    refine_plan,
    screen_plan,
)
from mpigauge.products.tune.result import (
    Of,
    choices,
    is_as_good,
    rescue,
    rules_for_all_sizes,
    rules_of,
)
from mpigauge.products.tune.show.text import (
    each_once,
    why_no_stand_in,
)
from mpigauge.runs.store.tuned_rules import DefaultStays, Fault, Rescued, TunedRule
from mpigauge.site.mpi.rule_files.candidates import (
    Candidate,
    candidates_of,
    find_candidate,
)

if TYPE_CHECKING:
    from mpigauge.measuring.plan import Plan
    from mpigauge.products.tune.decide.choose import Choice
    from mpigauge.products.tune.decide.grid import Grid

FEW_CANDIDATES = 3
"""The maximum number of candidates that are measured without screening."""


@dataclass(frozen=True)
class TuningFindings:
    """The results of measuring candidates."""

    rules: list[TunedRule]
    left: list[DefaultStays]
    faults: list[Fault]
    noise: float | None = None
    """The difference of the default from itself, as a share; None: nothing was measured."""
    rescued: Sequence[Rescued] = ()
    """The settings that make collectives far faster if ranks share cores."""


def find_rules(task: TuningTask) -> TuningFindings:
    """Tests and measures all candidates, and chooses rules."""
    right, faults = right_candidates(task)
    for fault in each_once(faults):
        name = fault.candidate or "the default"
        tell(f"{fault.collective}: {name} is out: {fault.why}; `{fault.proof}` shows it")
    usable = {of: own for of, own in right.items() if own}
    left = [
        DefaultStays(name, ranks, "no candidate has passed a correctness test")
        for name, ranks in task.targets
        if (name, ranks) not in usable
    ]
    if not usable:
        return TuningFindings([], left, faults)
    in_race = screened(task, usable)
    why = "each candidate was slower than it at every size in a first launch"
    left += [DefaultStays(*of, why) for of in usable if of not in in_race]
    if not in_race:
        return TuningFindings([], left, faults)
    measured_grids = task.grids(task.measured("grid", _grid_plan(task, in_race)))
    chosen = choices(measured_grids)
    rules = []
    for of in in_race:
        if of not in chosen:
            left.append(DefaultStays(*of, "nothing was measured of it"))
            continue
        own, why = _rules_or_why(task, of, measured_grids[of], chosen[of])
        rules += _on_hosts(own, task.hosts_of(*of))
        if why:
            left.append(DefaultStays(*of, why))
    rules = refined(task, rules, measured_grids)
    return TuningFindings(
        rules, left, faults, noise_of(chosen.values()), _rescued(task, in_race, measured_grids)
    )


def screened(
    task: TuningTask, candidates: Mapping[Of, Sequence[Candidate]]
) -> Mapping[Of, Sequence[Candidate]]:
    """Returns candidates worth more launches, judged by one launch; collectives without any are
    left out. If ranks share cores all stay, as the grid itself then has few launches."""
    many_candidates = {of: own for of, own in candidates.items() if len(own) > FEW_CANDIDATES}
    if task.is_crowded or not many_candidates:
        return candidates
    run = task.measured("screen", screen_plan(_grid_plan(task, many_candidates)))
    left = dict(candidates)
    for of, grid in task.grids(run).items():
        names = contenders(grid, for_every_size=not task.names_default)
        left[of] = [each for each in candidates[of] if each.name in names]
    return {of: own for of, own in left.items() if own}


def _rescued(
    task: TuningTask,
    candidates: Mapping[Of, Sequence[Candidate]],
    measured_grids: Mapping[Of, Grid],
) -> list[Rescued]:
    """Returns the rescues of collectives whose ranks share cores."""
    rescues = []
    for of, own in candidates.items():
        if of[1] > task.where.cores and of in measured_grids:
            settings = {each.name: each.settings for each in own}
            rescues.append(rescue(of, measured_grids[of], settings))
    return [each for each in rescues if each is not None]


def _on_hosts(rules: Iterable[TunedRule], hosts: int) -> list[TunedRule]:
    """Returns the rules with the number of hosts on which they were chosen."""
    return [replace(each, rule=replace(each.rule, hosts=hosts)) for each in rules]


def refined(
    task: TuningTask, rules: list[TunedRule], measured_grids: Mapping[Of, Grid]
) -> list[TunedRule]:
    """Extends rules to the last power of two at which they are faster, where they border on the
    default. Rules for a program or for ranks that share cores stay as they are."""
    if task.mix is not None or not task.names_default or task.is_crowded:
        return rules
    edges = edges_of(rules, measured_grids)
    for step in range(1, MOST_HALVINGS + 1):
        sizes = sizes_to_ask(edges)
        arms = arms_in_one_process(task, _candidates_at(task, edges))
        if not sizes or arms is None:
            break
        plan = refine_plan(task.request, arms, sizes, task.where)
        edges = moved(edges, task.grids(task.measured(f"refine-{step}", plan)))
        rules = widened(rules, edges)
    return rules


def _candidates_at(task: TuningTask, edges: Iterable[Edge]) -> dict[Of, list[Candidate]]:
    """Returns the candidates of edges with a size left to measure."""
    every = candidates_of(task.setup.mpi.name)
    candidates: dict[Of, list[Candidate]] = {}
    for edge in edges:
        candidate = find_candidate(every, edge.of[0], edge.candidate)
        if edge.middle is not None and candidate not in candidates.setdefault(edge.of, []):
            candidates[edge.of].append(candidate)
    return {of: own for of, own in candidates.items() if own}


def noise_of(chosen: Iterable[Choice]) -> float | None:
    """Returns the largest noise of all collectives, as a share; None: unknown."""
    noises = [choice.noise for choice in chosen if not math.isnan(choice.noise)]
    if noises:
        return math.expm1(max(noises))
    return None


def _grid_plan(task: TuningTask, candidates: Mapping[Of, Sequence[Candidate]]) -> Plan:
    arms = arms_in_one_process(task, candidates)
    if arms is not None:
        return grid_plan(task.request, arms, task.where)
    alone: AllArms = {}
    for (name, ranks), own in candidates.items():
        alone.setdefault(name, {})[ranks] = arms_alone(task, own, ranks)
    tell(f"{task.setup.mpi.label} reads these settings when it starts: each has its own launches")
    return grid_alone_plan(task.request, alone, task.where)


def _rules_or_why(
    task: TuningTask, of: Of, grid: Grid, choice: Choice
) -> tuple[list[TunedRule], str]:
    """Returns the rules, or none and why the default stays."""
    if task.names_default:
        own = rules_of(of, grid, choice, task.mix)
        return own, "" if own else why_default(grid, choice)
    own = rules_for_all_sizes(of, grid, choice, task.mix)
    worse = [each for each in own if each.stands_in and not is_as_good(each.chosen)]
    if not own or not worse:
        return own, "" if own else why_default(grid, choice)
    return [], why_no_stand_in(worse[0], task.setup.mpi.label)


def why_default(grid: Grid, choice: Choice) -> str:
    if not grid.launches:
        return "no launch measured all of its sizes"
    if grid.incomplete and not grid.arms:
        return f"{listed(grid.incomplete)} could not be measured at every size"
    if choice.doubtful:
        best = min(choice.doubtful, key=lambda each: each.ratio.value)
        less = 100 * (1 - best.ratio.value)
        return f"{best.arm} seemed to take {less:.0f} % less time, which may be chance"
    return "no candidate was faster"
