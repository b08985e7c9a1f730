# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A stored run's machine, MPI and hosts as they are now, to go on with it or to repeat it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mpigauge.measuring.campaign.resume import check_same, check_same_hosts, plan_of
from mpigauge.measuring.plan import Request
from mpigauge.measuring.plan.narrowed import narrowed
from mpigauge.model.errors import UserError
from mpigauge.model.hosts import NamedHost
from mpigauge.session.measuring import PlannedRun, measure
from mpigauge.session.setup import prepare
from mpigauge.session.targets import Target
from mpigauge.session.tuned import recorded_rules
from mpigauge.site import batch
from mpigauge.site.mpi.settings.files import check_files

if TYPE_CHECKING:
    from mpigauge.measuring.plan import Plan
    from mpigauge.model.columns import Cell
    from mpigauge.model.record import Figure
    from mpigauge.runs.store import Run
    from mpigauge.session.targets import Setup
    from mpigauge.session.view import View


def same_setup(stored: Run, output: Path | None, view: View) -> tuple[Plan, Setup]:
    """The plan, and where it can be made. UserError: this is another machine, MPI or version, or
    the hosts are not there."""
    plan = plan_of(stored, os.environ)
    check_files({**plan.settings, **plan.env})
    for part in plan.parts:
        check_files({**part.settings, **part.env})
    hosts = tuple(map(NamedHost, plan.hosts))
    given = batch.here(os.environ)
    batch.check_inside(given, plan.hosts)
    target = Target(hosts, rsh=plan.rsh, output=output, given=given, launcher=plan.launcher)
    measures = not all(part.foreign for part in plan.parts)
    setup = prepare(plan.mpi, target, Request(), view, needs_kernels=measures)
    check_same(stored, setup.mpi, setup.machine, setup.built)
    check_same_hosts(plan, setup.nodes)
    recorded_rules(stored)
    return plan, setup


def measured_again(
    stored: Run, numbers: Iterable[Cell | Figure], output: Path | None, view: View
) -> Run:
    """A new run of these numbers, as they were planned. UserError: it cannot be made here;
    RunError: it failed."""
    plan, setup = same_setup(stored, output, view)
    again = narrowed(plan, numbers)
    if again is None:
        raise UserError(f"the plan of {stored.path} does not record how these were measured")
    measured = measure([PlannedRun(setup, again)], output, "again")
    measured.raise_problems()
    return measured.runs[0]
