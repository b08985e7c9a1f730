# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge show: prints a stored run."""

from __future__ import annotations

from typing import Any

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command
from mpigauge.cli.options import limits_option
from mpigauge.cli.pivoting import pivot_options


@click.command("show", cls=Command)
@click.argument("run", metavar="RUN", shell_complete=completing.runs)
@click.option(
    "--all",
    "whole",
    is_flag=True,
    help="In the heading also what starting MPI took, memory, and detours of the cores.",
)
@click.option(
    "--follow",
    "follows",
    is_flag=True,
    help="Follow a run that another shell or node measures, until it ends. Ctrl-C ends the "
    "watching, not the run.",
)
@click.option(
    "--remarks",
    "only_remarks",
    is_flag=True,
    help="Only the remarks: what each flag means, and all that is suspicious about the numbers.",
)
@pivot_options
@options.format_option(default=None, pairs=True, profiles=True)
@limits_option
def command(run: str, follows: bool, **how: Any) -> None:
    """Print a stored run: of a map of pairs its map, of any other its tables.

    RUN is a folder, its name below mpigauge-runs or the beginning of it, `last`, a file that
    `mpigauge share` has made, or ref:NAME of the reference library (`mpigauge ref list`).
    """
    from mpigauge.products.watch.following import check_ended, followed
    from mpigauge.session.run_names import find_run

    if not follows:
        _show(run, **how)
    elif followed(find_run(run)):
        _show(run, **how)
        check_ended(find_run(run))


def _show(
    run: str,
    whole: bool,
    only_remarks: bool,
    pivot: str | None,
    to: str | None,
    form: str | None,
    limits_of: str | None,
) -> None:
    from mpigauge.cli.pivoting import show_pivot
    from mpigauge.cli.showing import show_remarks, show_run
    from mpigauge.model.errors import UserError
    from mpigauge.products.profile.by_name import print_profile
    from mpigauge.products.profile.finding import profile_at
    from mpigauge.session.run_names import find_run, open_run

    jobs = profile_at(run)
    if jobs is not None and (pivot or to):
        raise UserError(
            f"--pivot sets sizes of messages down, and {run} is a profile; leave it out"
        )
    if only_remarks:
        others = {"--pivot": pivot, "--to": to, "--format": form, "--limits": limits_of}
        _check_alone([name for name, value in others.items() if value], run, jobs is not None)
        show_remarks(run, whole)
    elif pivot or to:
        show_pivot([open_run(run)], pivot, to, form or options.USUAL_FORMAT)
    elif jobs is not None:
        print_profile(find_run(run), jobs, form or options.USUAL_FORMAT)
    elif form in options.PROFILE_FORMATS:
        raise UserError(f"--format {form} is for profiles, and {run} is not one")
    else:
        show_run(run, form, limits_of, whole)


def _check_alone(others: list[str], run: str, is_profile: bool) -> None:
    """UserError: --remarks stands beside one of these options, or the run is a profile."""
    from mpigauge.model.errors import UserError

    if others:
        raise UserError(f"--remarks prints sentences alone; leave out {' and '.join(others)}")
    if is_profile:
        raise UserError(f"--remarks is of measurements, and {run} is a profile; leave it out")
