# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge watch: follows a run that is measured elsewhere, or a program that is profiled."""

from __future__ import annotations

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command
from mpigauge.cli.runs.following import EVERY_S
from mpigauge.model.limits import LEAST_EVERY_S, MOST_EVERY_S


@click.command("watch", cls=Command)
@click.argument("run", metavar="RUN", shell_complete=completing.runs)
@click.option(
    "--every",
    type=options.Seconds(LEAST_EVERY_S, MOST_EVERY_S),
    default=EVERY_S,
    metavar="SECONDS",
    help="Time between two readings of the run's files.  [default: 1]",
)
def command(run: str, every: float) -> None:
    """Follow a run that another shell or node measures, until it ends.

    Of a program that `mpigauge profile` runs, it shows the call that each rank is in: its place,
    since when, its communicator and peer, and whether that is a deadlock.

    RUN is a folder, its name below mpigauge-runs, or `last`. Its files are only read. Ctrl-C ends
    the watching, not the run.
    """
    from mpigauge.cli.runs.kinds import ShowOptions, kind_of

    kind = kind_of(run)
    if kind.follow(run, every):
        kind.complete(run)
        kind.show(run, ShowOptions(form="table"))
        kind.check_ended(run)
