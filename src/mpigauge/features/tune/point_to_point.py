# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Settings of messages from rank to rank: tried, chosen by what messages weigh, and confirmed.

They have one value for all sizes, and are read when the MPI starts, so each point of their space
(site.mpi.settings.spaces) has launches of its own, in turn with the default. A first round of all
of them, halved again and again, leaves a few; these are measured more often, and the one that is
chosen has to be faster in fresh launches, and to give right results in all collectives.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.cli.screen import tell
from mpigauge.features.tune.plan import (
    ODD_RANKS,
    SIZES,
    TUNED,
    right_alone_plan,
)
from mpigauge.features.tune.result import as_ranks_come, evidence, tried
from mpigauge.features.tune.tuning import TuningTask, without_own
from mpigauge.measure.plan.plan import Plan
from mpigauge.model.errors import RunError, UserError
from mpigauge.model.names import CONTROL
from mpigauge.model.units import listed, many, settings_in_words
from mpigauge.result.tuning.grid import DEFAULT, Grid, grid_of
from mpigauge.result.tuning.halving import better_half
from mpigauge.result.tuning.one_value import best_for_all, costs, slower_places
from mpigauge.runs.store.tunings import SlowerMessages, TunedMessages
from mpigauge.site.mpi.rule_files.candidates import collectives_of
from mpigauge.site.mpi.settings.spaces import Point, points, space_of

if TYPE_CHECKING:
    from mpigauge.measure.plan import PlanPart
    from mpigauge.runs.store import Run
    from mpigauge.site.mpi.settings.spaces import SpaceSetting

BENCHMARKS = ("PingPong", "Sendrecv")
"""Of messages that go one way at a time, and both ways at once."""
MOST_POINTS = 48
"""Of a larger space as many are drawn at random, those with one setting alone always."""
FINALISTS = 3
"""So many are left for a closer look."""
SEED = 1
"""Of what is drawn at random: the same command has to come to the same points when it goes on."""
ROUNDS_OF_TRIAL = 2
ROUNDS_OF_HALVING = 2
"""The faster one counts: the other may have met the machine in another state."""
ROUNDS = 16
"""Of the finalists, and of what is confirmed."""
Arms = Mapping[str, Point]
"""By name; the default is not among them."""
Failing = Callable[[Point], str]
"""Why a program fails with these settings; empty: it does not."""


@dataclass(frozen=True)
class Messages:
    """Messages that are measured in the same launches."""

    benchmarks: tuple[str, ...]
    ranks: int
    weights: Mapping[int, float]
    """What each message size counts."""
    each_on_a_host: bool = False
    """Whether each rank is on a host of its own, so that messages go over the network."""


@dataclass(frozen=True)
class Searched:
    """What a search leaves."""

    finalists: Arms
    tried: int
    failed: Mapping[str, str]
    """Points that could not be measured, or gave wrong data, and why."""


# --- what is measured ---------------------------------------------------------------------------
def messages_of(task: TuningTask) -> list[Messages]:
    """What the program sends and calls, by the time that it spends there; without a profile both
    benchmarks, all sizes alike."""
    several = len(task.setup.resources.hosts) > 1
    if task.mix is None:
        sizes = dict.fromkeys(task.request.sizes or SIZES, 1.0)
        pair = Messages(BENCHMARKS, 2, sizes)
        if not several:
            return [pair]
        apart = replace(pair, each_on_a_host=True)
        if task.setup.resources.ppn == 1:
            return [apart]
        return [pair, apart]
    together: dict[tuple[str, int], dict[int, float]] = {}
    for call in task.mix.every:
        own = together.setdefault((call.benchmark, call.ranks), {})
        own[call.message_bytes] = own.get(call.message_bytes, 0.0) + call.seconds
    return [
        Messages((name,), ranks, weights, several and ranks == 2)
        for (name, ranks), weights in together.items()
    ]


def settings_plan(task: TuningTask, messages: Sequence[Messages], arms: Arms, rounds: int) -> Plan:
    """The default, each point, and the default once more, in launches of their own."""
    every = {DEFAULT: {}, **arms, CONTROL: {}}
    parts = []
    for each in messages:
        for name, point in every.items():
            parts.append(replace(_part(task, each), arm=name, settings=dict(point)))
    plan = task.where.plan(without_own(task), parts)
    return replace(plan, shuffle=True, launches=rounds, seconds=None, use_all=False)


def _part(task: TuningTask, messages: Messages) -> PlanPart:
    where = task.where
    if messages.each_on_a_host:
        where = replace(where, resources=replace(where.resources, ppn=1))
    part = where.measured_part(without_own(task), messages.benchmarks[0], messages.ranks)
    return replace(part, benchmarks=messages.benchmarks, sizes=tuple(sorted(messages.weights)))


# --- what it says -------------------------------------------------------------------------------
def groups_of(messages: Sequence[Messages]) -> dict[tuple[int, str], list[int]]:
    """The places of the grid of each benchmark of `messages`, by their sizes: numbers from 0 on."""
    found: dict[tuple[int, str], list[int]] = {}
    number = 0
    for kind, each in enumerate(messages):
        for name in each.benchmarks:
            found[kind, name] = list(range(number, number + len(each.weights)))
            number += len(each.weights)
    return found


def grid_of_run(run: Run, messages: Sequence[Messages], arms: Sequence[str]) -> Grid:
    """The times of a run of `settings_plan`, each place of the grid being a benchmark at a size.
    Points that gave wrong data are left out."""
    groups = groups_of(messages)
    plan = Plan.from_json(run.plan)
    of_each = len(plan.parts) // len(messages)
    times: dict[tuple[str, int, int], float] = {}
    weights: dict[int, float] = {}
    wrong = {cell.arm for cell in run.cells if cell.wrong_count}
    for cell in as_ranks_come(run.cells):
        kind = plan.part_number(cell.launch) // of_each
        sizes = sorted(messages[kind].weights)
        if cell.arm in wrong or cell.message_bytes not in sizes:
            continue
        place = groups[kind, cell.benchmark][sizes.index(cell.message_bytes)]
        times[cell.arm, place, plan.round(cell.launch)] = cell.time_p50_s
        weights[place] = messages[kind].weights[cell.message_bytes]
    every = [place for group in groups.values() for place in group]
    return replace(grid_of(times, every, arms), weights=weights)


def failures_of(run: Run, arms: Sequence[str]) -> dict[str, str]:
    """Why points could not be measured, or are wrong."""
    plan = Plan.from_json(run.plan)
    found: dict[str, str] = {}
    for cell in run.cells:
        if cell.wrong_count and cell.arm in arms:
            found.setdefault(cell.arm, f"{cell.benchmark} delivers wrong data")
    for failure in run.failures:
        arm = plan.part(failure.launch).arm
        if arm in arms:
            found.setdefault(arm, failure.message)
    return found


# --- searching ----------------------------------------------------------------------------------
def halved(task: TuningTask, messages: Sequence[Messages], arms: Arms) -> Searched:
    """The point that is found by successive halving."""
    left, number = dict(arms), 1
    failed: dict[str, str] = {}
    while len(left) > FINALISTS:
        run = task.measured(f"p2p-{number}", settings_plan(task, messages, left, ROUNDS_OF_HALVING))
        failed |= failures_of(run, list(left))
        found = costs(grid_of_run(run, messages, list(left)), list(left))
        left = {name: left[name] for name in better_half(found, FINALISTS)}
        number += 1
    return Searched(left, len(arms), failed)


def by_trials(
    task: TuningTask, space: Sequence[SpaceSetting], messages: Sequence[Messages], trials: int
) -> Searched:
    """The best points of so many trials, by what they cost in the mean of all messages. RunError:
    interrupted."""
    from mpigauge.features.tune.trials import tried_points

    failed: dict[str, str] = {}

    def cost(number: int, point: Point) -> float:
        words = settings_in_words(point)
        plan = settings_plan(task, messages, {words: point}, ROUNDS_OF_TRIAL)
        run = task.measured(f"p2p-trial-{number}", plan)
        failed.update(failures_of(run, [words]))
        return costs(grid_of_run(run, messages, [words]), [words])[words]

    found = tried_points(space, cost, trials, SEED)
    points = {settings_in_words(point): point for point, _ in found}
    best = better_half({settings_in_words(point): cost for point, cost in found}, FINALISTS)
    return Searched({words: points[words] for words in best[:FINALISTS]}, len(found), failed)


def points_to_measure(space: Sequence[SpaceSetting], seed: int) -> Arms:
    """All points of the space; of a large one some."""
    every = {settings_in_words(point): point for point in points(space)}
    if len(every) <= MOST_POINTS:
        return every
    single = []
    for setting in space:
        if setting.has_effect({}):
            for value in setting.values:
                single.append(settings_in_words(setting.set_to(value)))
    others = [name for name in every if name not in single]
    some = random.Random(seed).sample(others, max(MOST_POINTS - len(single), 0))
    return {name: every[name] for name in (*single, *some)}


def values_that_work(
    space: Sequence[SpaceSetting], failing: Failing
) -> tuple[list[SpaceSetting], dict[str, str]]:
    """The space without values with which the program itself fails, and why it does: it may bring
    libraries of its own that do not go with what a setting loads. RunError: it fails anyway."""
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


# --- all of it ----------------------------------------------------------------------------------
def tune_messages(
    task: TuningTask, trials: int = 0, failing: Failing | None = None
) -> TunedMessages:
    """`trials`: so many points are chosen by Optuna, in place of the halving of a list. UserError:
    nothing is known that could be tried for this MPI. RunError: interrupted."""
    space, unusable = space_of_task(task), dict[str, str]()
    if failing is not None:
        tell("messages from rank to rank: the program once with each setting")
        space, unusable = values_that_work(space, failing)
    found = _tuned(task, space, trials)
    return replace(found, failed={**unusable, **found.failed})


def space_of_task(task: TuningTask) -> Sequence[SpaceSetting]:
    """UserError: nothing is known that could be tried for this MPI."""
    hosts = max(len(task.setup.resources.hosts), 1)
    space = space_of(task.setup.mpi, hosts)
    if not space:
        raise UserError(
            f"--p2p: no settings of messages are known that {task.setup.mpi.label} could be told; "
            "`mpigauge sweep --vary` measures any of its settings"
        )
    return space


def _tuned(task: TuningTask, space: Sequence[SpaceSetting], trials: int) -> TunedMessages:
    if not space:
        return TunedMessages(why="the program fails with every setting")
    messages = messages_of(task)
    found = _searched(task, space, messages, trials)
    if not found.finalists:
        return TunedMessages(why="no combination could be measured", tried=found.tried,
                             failed=found.failed)  # fmt: skip
    names = list(found.finalists)
    plan = settings_plan(task, messages, found.finalists, ROUNDS)
    run = task.measured("p2p-finalists", plan)
    grid = grid_of_run(run, messages, names)
    failed = {**found.failed, **failures_of(run, names)}
    best = best_for_all(grid, {name: len(point) for name, point in found.finalists.items()})
    if best is None:
        return TunedMessages(why="too few launches were whole", tried=found.tried, failed=failed)
    result = TunedMessages(
        tried=found.tried, failed=failed, chosen=evidence(best), measured_by=_in_words(messages)
    )
    if not best.is_faster:
        return replace(result, why=f"{best.arm} was not faster with certainty")
    return confirmed_messages(task, replace(result, settings=dict(found.finalists[best.arm])))


def _searched(
    task: TuningTask, space: Sequence[SpaceSetting], messages: Sequence[Messages], trials: int
) -> Searched:
    if trials:
        tell(f"messages from rank to rank: {many(trials, 'trial')} of a space of settings")
        return by_trials(task, space, messages, trials)
    arms = points_to_measure(space, SEED)
    tell(f"messages from rank to rank: {many(len(arms), 'combination')} of settings")
    return halved(task, messages, arms)


def confirmed_messages(task: TuningTask, chosen: TunedMessages) -> TunedMessages:
    """What fresh launches and the tests of all collectives say of settings that were chosen; where
    they do not hold, none are left, and it is said why."""
    words = settings_in_words(chosen.settings)
    wrong = wrong_with_settings(task, chosen.settings)
    if wrong:
        return replace(chosen, settings={}, why=f"with {words} {wrong}")
    messages = messages_of(task)
    arms = {TUNED: chosen.settings}
    run = task.measured("p2p-confirm", settings_plan(task, messages, arms, ROUNDS))
    grid = grid_of_run(run, messages, [TUNED])
    found = best_for_all(grid, {})
    if found is None:
        return replace(chosen, settings={}, why=f"{words} could not be measured in fresh launches")
    sure = replace(chosen, confirmed=evidence(found))
    if not found.is_faster:
        return replace(sure, settings={}, why=f"{words} was not faster in fresh launches")
    return replace(sure, slower=slower_messages(grid, messages))


def wrong_with_settings(task: TuningTask, settings: Mapping[str, str]) -> str:
    """What collectives do wrong with these settings, as they send messages, too; empty: nothing."""
    names = collectives_of(task.setup.mpi.name)
    alone = [(name, ranks, TUNED, settings) for name in names for ranks in (2, ODD_RANKS)]
    plan = right_alone_plan(without_own(task), alone, task.where)
    found = tried(task.measured("p2p-right", plan))
    wrong = [f"{fault.collective} gives {fault.why}" for fault in found.faults]
    lost = []
    for name, ranks, arm, _ in alone:
        if (name, ranks, arm) not in found.known:
            lost.append(f"{name} among {ranks} ranks ends without a result")
    if wrong or lost:
        return listed([*wrong, *lost])
    return ""


def slower_messages(grid: Grid, messages: Sequence[Messages]) -> tuple[SlowerMessages, ...]:
    groups = groups_of(messages)
    of_place = {
        place: (name, messages[kind].ranks, size)
        for (kind, name), group in groups.items()
        for place, size in zip(group, sorted(messages[kind].weights), strict=True)
    }
    found = []
    for stretch in slower_places(grid, TUNED, list(groups.values())):
        name, ranks, first = of_place[stretch.sizes[0]]
        _, _, last = of_place[stretch.sizes[-1]]
        found.append(SlowerMessages(name, ranks, first, last, evidence(stretch)))
    return tuple(found)


def _in_words(messages: Sequence[Messages]) -> tuple[str, ...]:
    """The benchmarks that have measured them, each once."""
    return tuple(dict.fromkeys(name for each in messages for name in each.benchmarks))
