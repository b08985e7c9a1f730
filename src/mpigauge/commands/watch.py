# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge watch: follows a run that is measured elsewhere, or a program that is profiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command
from mpigauge.model.limits import LEAST_EVERY_S, MOST_EVERY_S
from mpigauge.products.watch import EVERY_S

if TYPE_CHECKING:
    from pathlib import Path


@click.command("watch", cls=Command)
@click.argument("run", metavar="RUN", shell_complete=completing.runs)
@click.option(
    "--every",
    type=options.Seconds(LEAST_EVERY_S, MOST_EVERY_S),
    default=EVERY_S,
    metavar="SECONDS",
    help="How often its files are looked at.  [default: 1]",
)
def command(run: str, every: float) -> None:
    """Follow a run that another shell or node measures, until it ends.

    Of a program that `mpigauge profile` runs, it shows the call that each rank is in: its place,
    since when, its communicator and peer, and whether that is a deadlock.

    RUN is a folder, its name below mpigauge-runs, or `last`. Its files are only read. Ctrl-C ends
    the watching, not the run.
    """
    from mpigauge.cli.showing import show
    from mpigauge.products.profile.finding import holds_profile
    from mpigauge.products.watch.following import check_ended, followed
    from mpigauge.runs.store import load
    from mpigauge.session.run_names import find_run

    folder = find_run(run)
    if holds_profile(folder):
        _watch_profile(folder, every)
        return
    if followed(folder, every):
        show(load(folder), "table")
        check_ended(folder)


def _watch_profile(folder: Path, every: float) -> None:
    """Shows where the ranks of a program stand until it ends, then its profile."""
    from mpigauge.cli.screen import screen, tell, write
    from mpigauge.products.profile.by_name import print_profile
    from mpigauge.products.profile.launch.left import collect_left
    from mpigauge.products.profile.launch.standing_now import RanksNow
    from mpigauge.products.profile.show.standings import Redrawn
    from mpigauge.products.profile.store.stored import load_jobs

    shown = Redrawn(write, screen)
    try:
        RanksNow(folder, tell).follow(every, shown.show)
    except KeyboardInterrupt:
        return
    collect_left(folder)
    print_profile(folder, load_jobs(folder), "table")
