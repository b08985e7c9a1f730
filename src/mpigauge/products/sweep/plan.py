# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of a sweep: benchmarks and programs, each with the settings of each arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mpigauge.measuring.plan.plan import Plan, PlanPart
from mpigauge.measuring.plan.resolve import parts_of, plan_of

if TYPE_CHECKING:
    from mpigauge.measuring.plan.arms.arms import Arm
    from mpigauge.measuring.plan.arms.foreign import Foreign
    from mpigauge.measuring.plan.request import Request
    from mpigauge.measuring.plan.resources import Resources
    from mpigauge.model.cards import Cards
    from mpigauge.model.mpi import Mpi


def sweep_plan(
    request: Request, programs: Sequence[Foreign], cards: Cards, resources: Resources, mpi: Mpi
) -> Plan:
    """The plan before anything is varied. UserError: there is nothing to measure."""
    ours = parts_of(request, cards, resources) if request.benchmarks or not programs else ()
    others = tuple(part for each in programs for part in _parts(each, request, resources))
    return plan_of(request, (*ours, *others), cards, resources, mpi)


def swept(plan: Plan, arms: Sequence[tuple[Arm, Mapping[str, str]]], fail_fast: bool) -> Plan:
    """Every part with every arm and its settings, each round in another order."""
    parts = tuple(_with(part, *arm) for arm in arms for part in plan.parts)
    return replace(plan, parts=parts, shuffle=True, fail_fast=fail_fast)


def swept_inside(plan: Plan, arms: Sequence[tuple[str, Mapping[str, str]]]) -> Plan:
    """Every part with all arms in each of its launches; `arms` have control variables to write."""
    return replace(plan, parts=tuple(replace(part, arms=tuple(arms)) for part in plan.parts))


def _parts(program: Foreign, request: Request, resources: Resources) -> tuple[PlanPart, ...]:
    """A job for each placement; one without the launcher is nobody's to place."""
    part = PlanPart((program.name,), program.ranks, foreign=program)
    if not program.launcher:
        return (part,)
    return tuple(
        resources.seated(part, where) for where in resources.placements(request, program.ranks)
    )


def _with(part: PlanPart, arm: Arm, settings: Mapping[str, str]) -> PlanPart:
    return replace(part, arm=arm.name, settings=dict(settings), env=arm.env)
