# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Measures algorithms of suite ALG beside the library with its rules: what it could reach.

A launch measures the collective, with the rules in effect, and all of its algorithms. An algorithm
counts where it is significantly faster than the best that the library can do, by the test that
candidates have to pass. Ranks arrive together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.plan import Plan
from mpigauge.model.cards import benchmark_word
from mpigauge.products.tune.decide.choose import fastest
from mpigauge.products.tune.decide.grid import DEFAULT
from mpigauge.products.tune.measure.confirming import without_own
from mpigauge.products.tune.measure.task import TuningTask
from mpigauge.products.tune.plan import beyond_plan
from mpigauge.products.tune.result import Of, evidence, grids_of, weighed
from mpigauge.runs.store.tuned_rules import Beyond

if TYPE_CHECKING:
    from mpigauge.products.tune.decide.grid import Grid
    from mpigauge.runs.store import Run


def faster_beyond(task: TuningTask, settings: Mapping[str, str]) -> tuple[Beyond, ...] | None:
    """Returns where algorithms of suite ALG are faster than the library with these settings; None:
    nothing can be measured, as ranks share cores or there are no such algorithms."""
    cards = task.where.cards
    targets = [of for of in task.targets if cards.algorithms(of[0])]
    if task.is_crowded or not targets:
        return None
    plan = beyond_plan(without_own(task), targets, settings, task.where)
    run = task.measured("beyond", plan)
    faster = []
    for (name, ranks), grid in beside(run).items():
        for each in fastest(weighed((name, ranks), grid, task.mix)):
            faster.append(
                Beyond(name, ranks, each.sizes[0], each.sizes[-1], each.arm, evidence(each))
            )
    return tuple(faster)


def beside(run: Run) -> dict[Of, Grid]:
    """Returns a grid for each collective, whose arms are the words of its algorithms. Launches of a
    part begin with the collective itself."""
    plan = Plan.from_json(run.plan)
    times: dict[Of, dict[tuple[str, int, int], float]] = {}
    for cell in run.cells:
        collective = plan.part(cell.launch).benchmarks[0]
        word = benchmark_word(cell.suite, cell.benchmark)
        arm = DEFAULT if word == collective else word
        place = arm, cell.message_bytes, cell.launch // len(plan.parts)
        times.setdefault((collective, cell.ranks), {})[place] = cell.time_p50_s
    return grids_of(times)
