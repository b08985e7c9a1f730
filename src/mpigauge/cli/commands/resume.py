# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge resume: goes on with a run that was killed or interrupted."""

from __future__ import annotations

import os

import click

from mpigauge.cli import options


@click.command("resume")
@click.argument("run", metavar="RUN")
@options.format_option(pairs=True)
def command(run: str, form: str) -> None:
    """Go on with a run that was killed, interrupted or failed.

    RUN is a folder, its name below mpigauge-runs, or `last`. Complete launches are kept, the
    missing ones are made as they were planned.
    """
    from mpigauge import batch, campaign, tui
    from mpigauge.campaign.resume import check_same, check_same_hosts, plan_of
    from mpigauge.cli.measuring import Wanted, finish, prepare, printer
    from mpigauge.cli.showing import find_run
    from mpigauge.model.hosts import Named
    from mpigauge.store import RunWriter, load

    folder = find_run(run)
    stored = load(folder)
    plan = plan_of(stored)
    hosts = tuple(map(Named, plan.hosts))
    given = batch.here(os.environ)
    batch.check_inside(given, plan.hosts)
    where = Wanted(hosts, rsh=plan.rsh, output=folder, given=given, launcher=plan.launcher)
    setup = prepare(plan.mpi, where)
    check_same(stored, setup.mpi, setup.machine)
    check_same_hosts(plan, setup.nodes)
    with RunWriter.resume(folder) as writer:
        finish(
            folder,
            lambda: campaign.resume(stored, setup.mpi, setup.kernels, writer, tui.view()),
            printer(form),
        )
