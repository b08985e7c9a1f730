# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge best: the best setting, transport or placement for each size."""

from __future__ import annotations

import click


@click.command("best")
@click.argument("run", metavar="RUN")
@click.option(
    "--by",
    default="arm",
    metavar="COLUMN",
    help="What the arms differ in: arm (of a sweep), placement, cache, …  [default: arm]",
)
@click.option(
    "--tolerance", metavar="SHARE", help="Less than this is no difference.  [default: 5%]"
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    help="What to print.  [default: table]",
)
def command(run: str, by: str, tolerance: str | None, form: str) -> None:
    """Say which arm of a sweep is best for each size, with its gain over the default.

    Only what holds after a correction over all that was compared is called better.
    """
    from mpigauge.cli.comparing import print_best, share_of
    from mpigauge.cli.run_names import open_run

    print_best(open_run(run), by, share_of(tolerance), form)
