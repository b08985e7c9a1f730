# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Resumes an incomplete run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import mpigauge
from mpigauge.measuring.campaign.budget import FIRST_OVERHEAD_S, MOST_OVERHEAD
from mpigauge.measuring.campaign.task import CampaignTask
from mpigauge.measuring.plan import Plan
from mpigauge.model.errors import UserError
from mpigauge.model.hosts import ProbedHost
from mpigauge.model.machine import Machine
from mpigauge.model.mpi import Kernels, Mpi
from mpigauge.model.secrets import revealed
from mpigauge.result.stats.order import LOOKS
from mpigauge.runs.store import Run, RunWriter


def resumed(
    stored: Run,
    mpi: Mpi,
    kernels: Kernels | None,
    writer: RunWriter,
    environment: Mapping[str, str] = os.environ,
) -> CampaignTask:
    """The remaining work of a run: complete launches are kept, the missing ones are made as
    planned, with values from this environment that were too secret to be stored. UserError: it
    lacks one."""
    complete = writer.complete
    return CampaignTask(
        plan_of(stored, environment),
        mpi,
        kernels,
        writer,
        cells=tuple(cell for cell in stored.cells if cell.launch in complete),
        spent_s=sum(end.seconds for end in stored.ends if end.launch in complete),
    )


def with_more_time(task: CampaignTask, seconds: float) -> CampaignTask:
    """The task with launches that take these seconds, beside those that were made; its plan is
    stored again."""
    plan = task.plan
    begun = -(-len(task.writer.complete) // len(plan.parts))
    more = replace(
        plan,
        seconds=task.spent_s + seconds,
        use_all=True,
        launches=launches_after(begun, len(plan.parts), seconds),
    )
    task.writer.amend({"plan": more.to_json()})
    return replace(task, plan=more)


def check_more_time(plan: Plan) -> None:
    """UserError: its schedule has no time budget."""
    if plan.mode == "classic":
        raise UserError("--time: the classic mode has IMB's schedule, which no time budget changes")


def launches_after(begun: int, parts: int, seconds: float) -> int:
    """The number of rounds in all, if so many were begun: one at which intervals are checked, with
    a tenth of the time for starting jobs."""
    most = begun + int(seconds * MOST_OVERHEAD / (FIRST_OVERHEAD_S * parts))
    later = [look for look in LOOKS if look > begun] or [begun + 1]
    return max([later[0], *(look for look in later if look <= most)])


def plan_of(stored: Run, environment: Mapping[str, str] | None = None) -> Plan:
    """The plan; with an environment, ready to be executed there. UserError: it cannot be."""
    try:
        data = stored.plan if environment is None else revealed(stored.plan, environment)
        return Plan.from_json(data)
    except (KeyError, TypeError, ValueError):
        raise UserError(f"{stored.path}/run.json holds no plan that can be resumed") from None


def check_same(stored: Run, mpi: Mpi, machine: Machine, kernels: Kernels | None) -> None:
    """UserError: machine, MPI, version or compiler differ, which would mix two runs."""
    for what, before, now in _differences(stored, mpi, machine, kernels):
        if before and before != now:
            raise UserError(
                f"{stored.path} was measured with the {what} {before}, here it is {now}; "
                "resuming would mix them: start a new run"
            )


def check_same_hosts(plan: Plan, nodes: Iterable[ProbedHost]) -> None:
    """UserError: a name stands for another machine than before, as in another allocation."""
    then = {}
    for part in plan.parts:
        for block in part.hosts:
            then[block.host] = block.hostname
    for node in nodes:
        if (now := node.machine.hostname) != then[node.name]:
            raise UserError(
                f"host {node.name} was {then[node.name]}, now it is {now}; resuming would "
                "mix them: start a new run"
            )


def _differences(
    stored: Run, mpi: Mpi, machine: Machine, kernels: Kernels | None
) -> list[tuple[str, str, str]]:
    machine_then = _mapping(stored.passport.get("machine"))
    kernels_then = _mapping(stored.passport.get("kernels"))
    mpi_then = _mapping(stored.header.get("mpi"))
    return [
        ("mpigauge", str(stored.header.get("version", "")), mpigauge.__version__),
        ("MPI", _label(mpi_then), f"{mpi.name} {mpi.version}"),
        ("CPU", str(machine_then.get("cpu_model", "")), machine.cpu_model),
        ("host", str(machine_then.get("hostname", "")), machine.hostname),
        (
            "kernels of",
            str(kernels_then.get("compiler", "")),
            kernels.build.compiler if kernels and kernels.build else "",
        ),
    ]


def _label(mpi: Mapping[str, Any]) -> str:
    return f"{mpi.get('name', '')} {mpi.get('version', '')}".strip()


def _mapping(value: object) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    return {}
