# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge show: prints a stored run."""

from __future__ import annotations

import click

from mpigauge.cli import options


@click.command("show")
@click.argument("run", metavar="RUN")
@options.format_option(pairs=True)
def command(run: str, form: str) -> None:
    """Print a stored run.

    RUN is a folder, its name below mpigauge-runs or the beginning of it, or `last`.
    """
    from mpigauge.cli.showing import find_run, show
    from mpigauge.store import load

    show(load(find_run(run)), form)
