# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The messages from rank to rank that a tuning measures, with their plans and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.plan import Plan
from mpigauge.model.names import CONTROL
from mpigauge.products.tune.decide.grid import DEFAULT, Grid, grid_of
from mpigauge.products.tune.decide.one_value import slower_places
from mpigauge.products.tune.decide.spaces import Point
from mpigauge.products.tune.measure.confirming import without_own
from mpigauge.products.tune.measure.task import TuningTask
from mpigauge.products.tune.plan import (
    SIZES,
    TUNED,
)
from mpigauge.products.tune.result import as_ranks_come, evidence
from mpigauge.runs.store.tuned_rules import SlowerMessages

if TYPE_CHECKING:
    from mpigauge.measuring.plan import PlanPart
    from mpigauge.runs.store import Run

BENCHMARKS = ("PingPong", "Sendrecv")
"""The benchmarks of messages in one direction at a time, and in both at once."""
Arms = Mapping[str, Point]
"""The points by name, without the default."""


@dataclass(frozen=True)
class Messages:
    """The messages that are measured in the same launches."""

    benchmarks: tuple[str, ...]
    ranks: int
    weights: Mapping[int, float]
    """The weight of each message size in bytes."""
    each_on_a_host: bool = False
    """True if each rank is on a host of its own, so that messages use the network."""


def messages_of(task: TuningTask) -> list[Messages]:
    """Returns the calls of the program, weighted by the time spent in them; without a profile both
    benchmarks with equal weights."""
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
    """Returns a plan with separate launches for the default, each point, and the default again."""
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


def groups_of(messages: Sequence[Messages]) -> dict[tuple[int, str], list[int]]:
    """Returns the places of each benchmark in the grid, one per size, numbered from 0."""
    groups: dict[tuple[int, str], list[int]] = {}
    number = 0
    for kind, each in enumerate(messages):
        for name in each.benchmarks:
            groups[kind, name] = list(range(number, number + len(each.weights)))
            number += len(each.weights)
    return groups


def grid_of_run(run: Run, messages: Sequence[Messages], arms: Sequence[str]) -> Grid:
    """Returns the times of a run of `settings_plan`; each place of the grid is a benchmark at a
    size. Points with wrong data are left out."""
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
    """Returns why points could not be measured or gave wrong data, by name."""
    plan = Plan.from_json(run.plan)
    reasons: dict[str, str] = {}
    for cell in run.cells:
        if cell.wrong_count and cell.arm in arms:
            reasons.setdefault(cell.arm, f"{cell.benchmark} delivers wrong data")
    for failure in run.failures:
        arm = plan.part(failure.launch).arm
        if arm in arms:
            reasons.setdefault(arm, failure.message)
    return reasons


def slower_messages(grid: Grid, messages: Sequence[Messages]) -> tuple[SlowerMessages, ...]:
    groups = groups_of(messages)
    of_place = {
        place: (name, messages[kind].ranks, size)
        for (kind, name), group in groups.items()
        for place, size in zip(group, sorted(messages[kind].weights), strict=True)
    }
    slower = []
    for stretch in slower_places(grid, TUNED, list(groups.values())):
        name, ranks, first = of_place[stretch.sizes[0]]
        _, _, last = of_place[stretch.sizes[-1]]
        slower.append(SlowerMessages(name, ranks, first, last, evidence(stretch)))
    return tuple(slower)


def in_words(messages: Sequence[Messages]) -> tuple[str, ...]:
    """Returns the benchmarks of the messages, each once."""
    return tuple(dict.fromkeys(name for each in messages for name in each.benchmarks))
