# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge show: prints a stored run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command
from mpigauge.cli.options import limits_option
from mpigauge.cli.runs.pivoting import pivot_options

if TYPE_CHECKING:
    from mpigauge.cli.runs.kinds import ShowOptions


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
@options.job_option
def command(run: str, follows: bool, **how: Any) -> None:
    """Print a stored run: of a map of pairs its map, of any other its tables.

    RUN is a folder, its name below mpigauge-runs or the beginning of it, `last`, a file that
    `mpigauge share` has made, or ref:NAME of the reference library (`mpigauge ref list`).
    """
    from mpigauge.cli.runs.following import EVERY_S
    from mpigauge.cli.runs.kinds import ShowOptions, kind_of

    asked = ShowOptions(**how)
    if asked.only_remarks:
        _check_alone(asked)
    kind = kind_of(run)
    kind.check_job([run], asked.job)
    if not follows:
        kind.show(run, asked)
    elif kind.follow(run, EVERY_S):
        kind.complete(run)
        kind.show(run, asked)
        kind.check_ended(run)


def _check_alone(asked: ShowOptions) -> None:
    """UserError: --remarks stands beside one of these options."""
    from mpigauge.model.errors import UserError

    values = {
        "--pivot": asked.pivot,
        "--to": asked.to,
        "--format": asked.form,
        "--limits": asked.limits_of,
    }
    others = [name for name, value in values.items() if value]
    if others:
        raise UserError(f"--remarks prints sentences alone; leave out {' and '.join(others)}")
