# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge resume: goes on with a run that was killed or interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli import options

if TYPE_CHECKING:
    from contextlib import ExitStack

    from mpigauge.measure.campaign import Task
    from mpigauge.runs.store import Run


@click.command("resume")
@click.argument("run", metavar="RUN")
@options.format_option(pairs=True)
@options.history_option
def command(run: str, form: str) -> None:
    """Go on with a run that was killed, interrupted or failed.

    RUN is a folder, its name below mpigauge-runs, or `last`; with a folder that holds the runs of
    several MPIs all of them go on. Complete launches are kept, the missing ones are made as they
    were planned.
    """
    from contextlib import ExitStack

    from mpigauge.cli.beside import finish_all
    from mpigauge.cli.finding import find_run
    from mpigauge.cli.measuring import finish, printer
    from mpigauge.cli.screen import screen
    from mpigauge.features.sweep.sweeping import present
    from mpigauge.measure import campaign, live

    folder = find_run(run)
    folders = sorted(path.parent for path in folder.glob("*/run.json")) or [folder]
    with ExitStack() as stack:
        going = [going_on(each, stack) for each in folders]
        swept = any(part.arm or part.arms for task, _ in going for part in task.plan.parts)
        show = present if swept and form == "table" else printer(form)
        if len(going) == 1:
            ((task, stored),) = going
            finish(
                folders[0],
                lambda: campaign.resume(
                    stored, task.mpi, task.kernels, task.writer, live.view(screen())
                ),
                show,
            )
        else:
            finish_all([task for task, _ in going], show)


def going_on(folder: Path, stack: ExitStack) -> tuple[Task, Run]:
    """What is left of a run. UserError: machine, MPI or hosts are not what they were."""
    from mpigauge.cli.again import same_setup
    from mpigauge.measure import campaign
    from mpigauge.runs.store import RunWriter, load

    stored = load(folder)
    _, setup = same_setup(stored, folder)
    writer = stack.enter_context(RunWriter.resume(folder))
    return campaign.resumed(stored, setup.mpi, setup.kernels, writer), stored
