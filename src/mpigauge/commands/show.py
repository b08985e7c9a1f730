# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge show: prints a stored run."""

from __future__ import annotations

import click

from mpigauge.cli import options
from mpigauge.cli.limiting import limits_option


@click.command("show")
@click.argument("run", metavar="RUN")
@options.format_option(pairs=True)
@limits_option
def command(run: str, form: str, limits_of: str | None) -> None:
    """Print a stored run.

    RUN is a folder, its name below mpigauge-runs or the beginning of it, `last`, a file that
    `mpigauge share` has made, or ref:NAME of the reference library (`mpigauge ref list`).
    """
    from mpigauge.cli.finding import open_run
    from mpigauge.cli.showing import show

    show(open_run(run), form, limits_of)
