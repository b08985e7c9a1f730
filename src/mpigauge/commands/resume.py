# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge resume: goes on with a run that was killed or interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli import completing, options

if TYPE_CHECKING:
    from contextlib import ExitStack

    from mpigauge.measuring.campaign import CampaignTask


@click.command("resume")
@click.argument("run", metavar="RUN", shell_complete=completing.runs)
@options.format_option(pairs=True)
@options.history_option
def command(run: str, form: str) -> None:
    """Go on with a run that was killed, interrupted or failed.

    RUN is a folder, its name below mpigauge-runs, or `last`; with a folder that holds the runs of
    several MPIs all of them go on, and stand beside each other at the end. Complete launches are
    kept, the missing ones are made as they were planned.
    """
    from contextlib import ExitStack

    from mpigauge.cli.side_by_side import print_beside
    from mpigauge.cli.terminal import TERMINAL
    from mpigauge.features.sweep.sweeping import present_all
    from mpigauge.session.measuring import carry_out
    from mpigauge.session.run_names import find_run

    folder = find_run(run)
    folders = sorted(path.parent for path in folder.glob("*/run.json")) or [folder]
    with ExitStack() as stack:
        tasks = [what_is_left(each, stack) for each in folders]
        measured = carry_out(tasks, TERMINAL)
    parts = [part for task in tasks for part in task.plan.parts]
    is_sweep = any(part.arm or part.arms or part.foreign for part in parts)
    if len(measured.runs) > 1 and form == "table" and not is_sweep:
        print_beside(measured.runs)
    else:
        present_all(measured.runs, form)
    measured.raise_problems()


def what_is_left(folder: Path, stack: ExitStack) -> CampaignTask:
    """The remaining work of a run. UserError: machine, MPI or hosts have changed."""
    from mpigauge.cli.terminal import TERMINAL
    from mpigauge.measuring import campaign
    from mpigauge.runs.store import RunWriter, load
    from mpigauge.session.remeasure import same_setup

    stored = load(folder)
    _, setup = same_setup(stored, folder, TERMINAL)
    writer = stack.enter_context(RunWriter.resume(folder))
    return campaign.resumed(stored, setup.mpi, setup.built, writer)
