# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge resume: goes on with a run that was killed or interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command, option

if TYPE_CHECKING:
    from contextlib import ExitStack

    from mpigauge.measuring.campaign import CampaignTask


@click.command("resume", cls=Command)
@click.argument("run", metavar="RUN", shell_complete=completing.runs)
@option(
    "--time",
    "seconds",
    metavar="TIME",
    help="Measure so much longer, such as 30s or 2m, also if the run is complete: it goes to the "
    "cells with the widest interval.",
    former=["--in"],
)
@options.format_option(pairs=True)
@options.shared("no-history")
def command(run: str, seconds: str | None, form: str) -> None:
    """Resume a run that was killed, interrupted or failed, or make it more precise.

    RUN is a folder, its name below mpigauge-runs, or `last`; a folder with the runs of several MPIs
    resumes all of them, side by side. Complete launches are kept, and the missing ones are made as
    planned.
    """
    from contextlib import ExitStack

    from mpigauge.cli.output.terminal import TERMINAL
    from mpigauge.cli.runs.side_by_side import print_beside
    from mpigauge.measuring.plan.arms.parse import parse_duration
    from mpigauge.products.sweep.sweeping import present_all
    from mpigauge.session.measuring import carry_out
    from mpigauge.session.run_names import find_run

    more_s = None if seconds is None else parse_duration("--time", seconds)
    folder = find_run(run)
    folders = sorted(path.parent for path in folder.glob("*/run.json")) or [folder]
    with ExitStack() as stack:
        share_s = None if more_s is None else more_s / len(folders)
        tasks = [what_is_left(each, stack, share_s) for each in folders]
        measured = carry_out(tasks, TERMINAL)
    parts = [part for task in tasks for part in task.plan.parts]
    is_sweep = any(part.arm or part.arms or part.foreign for part in parts)
    if len(measured.runs) > 1 and form == "table" and not is_sweep:
        print_beside(measured.runs)
    else:
        present_all(measured.runs, form)
    measured.raise_problems()


def what_is_left(folder: Path, stack: ExitStack, more_s: float | None = None) -> CampaignTask:
    """The remaining work of a run, and so many seconds of further launches. UserError: machine, MPI
    or hosts have changed, or its schedule has no time."""
    from mpigauge.cli.output.terminal import TERMINAL
    from mpigauge.measuring.campaign.resume import check_more_time, resumed, with_more_time
    from mpigauge.runs.store import RunWriter, load
    from mpigauge.session.remeasure import same_setup

    stored = load(folder)
    plan, setup = same_setup(stored, folder, TERMINAL)
    if more_s is not None:
        check_more_time(plan)
    writer = stack.enter_context(RunWriter.resume(folder))
    task = resumed(stored, setup.mpi, setup.built, writer)
    return task if more_s is None else with_more_time(task, more_s)
