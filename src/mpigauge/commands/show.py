# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge show: prints a stored run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.cli import completing, options
from mpigauge.cli.limiting import limits_option
from mpigauge.cli.pivoting import pivot_options
from mpigauge.model.width import WIDTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.features.profile.stored import ProfiledJob


@click.command("show")
@click.argument("run", metavar="RUN", shell_complete=completing.runs)
@click.option(
    "--all",
    "whole",
    is_flag=True,
    help="In the heading also what starting MPI took, memory, and detours of the cores.",
)
@pivot_options
@options.format_option(pairs=True, profiles=True)
@limits_option
def command(
    run: str,
    whole: bool,
    pivot: str | None,
    to: str | None,
    form: str,
    limits_of: str | None,
) -> None:
    """Print a stored run.

    RUN is a folder, its name below mpigauge-runs or the beginning of it, `last`, a file that
    `mpigauge share` has made, or ref:NAME of the reference library (`mpigauge ref list`).
    """
    from mpigauge.cli.pivoting import show_pivot
    from mpigauge.cli.run_names import open_run
    from mpigauge.cli.showing import show
    from mpigauge.features.profile.finding import profile_at
    from mpigauge.model.errors import UserError

    jobs = profile_at(run)
    if jobs is not None and (pivot or to):
        raise UserError(
            f"--pivot sets sizes of messages down, and {run} is a profile; leave it out"
        )
    if pivot or to:
        show_pivot([open_run(run)], pivot, to, form)
    elif jobs is not None and form in ("table", "json", "csv", *options.PROFILE_FORMATS):
        _show_profile(run, jobs, form)
    elif form in options.PROFILE_FORMATS:
        raise UserError(f"--format {form} is of profiles, and {run} is none")
    else:
        show(open_run(run), form, limits_of, whole)


def _show_profile(run: str, jobs: Sequence[ProfiledJob], form: str) -> None:
    from mpigauge.cli.run_names import find_run
    from mpigauge.cli.screen import screen, write
    from mpigauge.features.profile.measured import joined_at
    from mpigauge.features.profile.show import JOINED, lines_of

    found = joined_at(find_run(run), jobs) if form in JOINED else None
    write("\n".join([*lines_of(jobs, form, screen().room or WIDTH, found), ""]))
