# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Tunes settings of point-to-point messages: searches, chooses by weighted messages, confirms.

These settings have one value for all sizes and are read when the MPI starts, so each point of their
space (site.mpi.settings.spaces) has its own launches, alternating with the default. Successive
halving leaves a few points, which are measured more often. The chosen one must be faster in fresh
launches, and give right results in all collectives.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.cli.output import tell
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.units import listed, many, settings_in_words
from mpigauge.products.tune.decide.halving import better_half
from mpigauge.products.tune.decide.one_value import best_for_all, costs
from mpigauge.products.tune.decide.spaces import Point, points, space_of
from mpigauge.products.tune.measure.confirming import without_own
from mpigauge.products.tune.measure.message_runs import (
    Arms,
    Messages,
    failures_of,
    grid_of_run,
    in_words,
    messages_of,
    settings_plan,
    slower_messages,
)
from mpigauge.products.tune.measure.task import TuningTask
from mpigauge.products.tune.plan import (
    ODD_RANKS,
    TUNED,
    right_alone_plan,
)
from mpigauge.products.tune.result import evidence, tried
from mpigauge.runs.store.files import failing_as, write_whole
from mpigauge.runs.store.tuned_rules import TunedMessages
from mpigauge.runs.store.tunings import RUNS
from mpigauge.site.mpi.rule_files.candidates import collectives_of

if TYPE_CHECKING:
    from mpigauge.products.tune.decide.spaces import SpaceSetting

MOST_POINTS = 48
"""The maximum number of points: more are sampled, except points that change one setting."""
FINALISTS = 3
"""The number of points that the search leaves."""
WITH_SETTINGS = "program-with-settings.json"
"""The file with the answers whether the program works with settings."""
SEED = 1
"""The random seed, fixed so that a resumed command draws the same points."""
ROUNDS_OF_TRIAL = 2
ROUNDS_OF_HALVING = 2
"""The rounds of each halving step. The faster launch counts, as the other may be disturbed."""
ROUNDS = 16
"""The rounds for the finalists and for confirming."""
Failing = Callable[[Point], str]
"""A function that returns why a program fails with settings; empty: it does not."""


@dataclass(frozen=True)
class Searched:
    """The result of a search."""

    finalists: Arms
    tried: int
    failed: Mapping[str, str]
    """The points that could not be measured or gave wrong data, and why."""


def halved(task: TuningTask, messages: Sequence[Messages], arms: Arms) -> Searched:
    """Searches points by successive halving."""
    left, number = dict(arms), 1
    failed: dict[str, str] = {}
    while len(left) > FINALISTS:
        run = task.measured(f"p2p-{number}", settings_plan(task, messages, left, ROUNDS_OF_HALVING))
        failed |= failures_of(run, list(left))
        point_costs = costs(grid_of_run(run, messages, list(left)), list(left))
        left = {name: left[name] for name in better_half(point_costs, FINALISTS)}
        number += 1
    return Searched(left, len(arms), failed)


def by_trials(
    task: TuningTask, space: Sequence[SpaceSetting], messages: Sequence[Messages], trials: int
) -> Searched:
    """Searches points by trials; the best have the lowest mean cost over all messages. RunError:
    interrupted."""
    from mpigauge.products.tune.decide.trials import tried_points

    failed: dict[str, str] = {}

    def cost(number: int, point: Point) -> float:
        words = settings_in_words(point)
        plan = settings_plan(task, messages, {words: point}, ROUNDS_OF_TRIAL)
        run = task.measured(f"p2p-trial-{number}", plan)
        failed.update(failures_of(run, [words]))
        return costs(grid_of_run(run, messages, [words]), [words])[words]

    trial_costs = tried_points(space, cost, trials, SEED)
    points = {settings_in_words(point): point for point, _ in trial_costs}
    best = better_half({settings_in_words(point): cost for point, cost in trial_costs}, FINALISTS)
    return Searched({words: points[words] for words in best[:FINALISTS]}, len(trial_costs), failed)


def points_to_measure(space: Sequence[SpaceSetting], seed: int, most: int = MOST_POINTS) -> Arms:
    """Returns all points of the space, or a sample of a large one; below MOST_POINTS, points that
    change one setting are sampled, too."""
    every = {settings_in_words(point): point for point in points(space)}
    if len(every) <= most:
        return every
    single = []
    for setting in space:
        if setting.has_effect({}):
            for value in setting.values:
                single.append(settings_in_words(setting.set_to(value)))
    others = [name for name in every if name not in single]
    if most < MOST_POINTS and len(single) > most:
        single = random.Random(seed).sample(single, most)
    some = random.Random(seed).sample(others, max(most - len(single), 0))
    return {name: every[name] for name in (*single, *some)}


def values_that_work(
    space: Sequence[SpaceSetting], failing: Failing
) -> tuple[list[SpaceSetting], dict[str, str]]:
    """Returns the space without values with which the program fails, and why it fails: its own
    libraries may conflict with what a setting loads. RunError: it always fails."""
    if why := failing({}):
        raise RunError(f"--for: the program no longer runs as it was profiled: {why}")
    kept, failed = [], {}
    by_name = {setting.name: setting for setting in space}
    for setting in space:
        values = []
        for value in setting.values:
            point = setting.set_to(value)
            for name, other in setting.where.items():
                if other:
                    point |= by_name[name].set_to(other)
            if why := failing(point):
                failed[settings_in_words(point)] = why
            else:
                values.append(value)
        if values:
            kept.append(replace(setting, values=tuple(values)))
    return kept, failed


def remembered(failing: Failing, file: Path) -> Failing:
    """Returns the function with its answers stored in a file, so that a resumed tuning repeats
    none."""
    answers: dict[str, str] = json.loads(file.read_text("utf-8")) if file.is_file() else {}

    def why(point: Point) -> str:
        words = settings_in_words(point)
        if words not in answers:
            answers[words] = failing(point)
            with failing_as(RunError, file):
                file.parent.mkdir(parents=True, exist_ok=True)
                write_whole(file, json.dumps(answers, indent=1, ensure_ascii=False))
        return answers[words]

    return why


def tune_messages(
    task: TuningTask, trials: int = 0, failing: Failing | None = None
) -> TunedMessages:
    """Tunes settings of messages. `trials`: the number of points that Optuna chooses; 0: successive
    halving of a list. UserError: no settings are known for this MPI. RunError: interrupted."""
    space, unusable = space_of_task(task), dict[str, str]()
    if failing is not None:
        failing = remembered(failing, task.folder / RUNS / WITH_SETTINGS)
    if failing is not None and task.budget is None:
        tell("messages from rank to rank: the program once with each setting")
        space, unusable = values_that_work(space, failing)
    messages = _tuned(task, space, trials, failing if task.budget else None)
    return replace(messages, failed={**unusable, **messages.failed})


def space_of_task(task: TuningTask) -> Sequence[SpaceSetting]:
    """Returns the space of settings of the MPI. UserError: no settings are known for it."""
    hosts = max(len(task.setup.resources.hosts), 1)
    space = space_of(task.setup.mpi, hosts)
    if not space:
        raise UserError(
            f"--p2p: no settings of messages are known for {task.setup.mpi.label}; "
            "`mpigauge sweep --vary` measures any of its settings"
        )
    return space


def _tuned(
    task: TuningTask, space: Sequence[SpaceSetting], trials: int, failing: Failing | None = None
) -> TunedMessages:
    """Searches, chooses and confirms. `failing`: tests the finalists alone with the program, as
    there is no time for all values; None: these work."""
    if not space:
        return TunedMessages(why="the program fails with every setting")
    messages = messages_of(task)
    search = _searched(task, space, messages, trials)
    if failing is not None:
        search = _that_work(search, failing)
    if not search.finalists:
        return TunedMessages(why="no combination could be measured", tried=search.tried,
                             failed=search.failed)  # fmt: skip
    names = list(search.finalists)
    plan = settings_plan(task, messages, search.finalists, ROUNDS)
    run = task.measured("p2p-finalists", plan)
    grid = grid_of_run(run, messages, names)
    failed = {**search.failed, **failures_of(run, names)}
    best = best_for_all(grid, {name: len(point) for name, point in search.finalists.items()})
    if best is None:
        return TunedMessages(why="too few launches were whole", tried=search.tried, failed=failed)
    result = TunedMessages(
        tried=search.tried, failed=failed, chosen=evidence(best), measured_by=in_words(messages)
    )
    if not best.is_faster:
        return replace(result, why=f"{best.arm} was not significantly faster")
    return confirmed_messages(task, replace(result, settings=dict(search.finalists[best.arm])))


def _that_work(search: Searched, failing: Failing) -> Searched:
    """Returns the finalists with which the program works."""
    tell("messages from rank to rank: the program once with each of the best combinations")
    why = {words: failing(point) for words, point in search.finalists.items()}
    finalists = {words: point for words, point in search.finalists.items() if not why[words]}
    failed = {words: reason for words, reason in why.items() if reason}
    return replace(search, finalists=finalists, failed={**search.failed, **failed})


def _searched(
    task: TuningTask, space: Sequence[SpaceSetting], messages: Sequence[Messages], trials: int
) -> Searched:
    if trials:
        tell(f"messages from rank to rank: {many(trials, 'trial')} of a space of settings")
        return by_trials(task, space, messages, trials)
    most = MOST_POINTS
    if task.budget is not None:
        most = min(task.budget.points(ROUNDS_OF_HALVING * len(messages)), MOST_POINTS)
    arms = points_to_measure(space, SEED, most)
    tell(f"messages from rank to rank: {many(len(arms), 'combination')} of settings")
    return halved(task, messages, arms)


def confirmed_messages(task: TuningTask, chosen: TunedMessages) -> TunedMessages:
    """Confirms the chosen settings by fresh launches and by correctness tests of all collectives;
    settings that fail are removed, with the reason."""
    words = settings_in_words(chosen.settings)
    wrong = wrong_with_settings(task, chosen.settings)
    if wrong:
        return replace(chosen, settings={}, why=f"with {words} {wrong}")
    messages = messages_of(task)
    arms = {TUNED: chosen.settings}
    run = task.measured("p2p-confirm", settings_plan(task, messages, arms, ROUNDS))
    grid = grid_of_run(run, messages, [TUNED])
    best = best_for_all(grid, {})
    if best is None:
        return replace(chosen, settings={}, why=f"{words} could not be measured in fresh launches")
    sure = replace(chosen, confirmed=evidence(best))
    if not best.is_faster:
        return replace(sure, settings={}, why=f"{words} was not faster in fresh launches")
    return replace(sure, slower=slower_messages(grid, messages))


def wrong_with_settings(task: TuningTask, settings: Mapping[str, str]) -> str:
    """Returns which collectives fail or are not tested with these settings, which also affect them;
    empty: none."""
    names = collectives_of(task.setup.mpi.name)
    alone = [(name, ranks, TUNED, settings) for name in names for ranks in (2, ODD_RANKS)]
    plan = right_alone_plan(without_own(task), alone, task.where)
    outcome = tried(task.measured("p2p-right", plan))
    wrong = [f"{fault.collective} gives {fault.why}" for fault in outcome.faults]
    lost = []
    for name, ranks, arm, _ in alone:
        if (name, ranks, arm) not in outcome.tested:
            is_slow = (name, ranks, arm) in outcome.untested
            why = "is too slow to be tested" if is_slow else "ends without a result"
            lost.append(f"{name} among {ranks} ranks {why}")
    if wrong or lost:
        return listed([*wrong, *lost])
    return ""
