# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge best: the best setting, transport or placement for each size."""

from __future__ import annotations

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command
from mpigauge.cli.runs.pivoting import FORMATS
from mpigauge.model.typed import as_word


@click.command("best", cls=Command)
@click.argument("run", metavar="RUN", shell_complete=completing.runs)
@click.option(
    "--by",
    default="arm",
    metavar="COLUMN",
    help="Column to compare: arm (the settings of a sweep), placement, cache, …  [default: arm]",
)
@click.option(
    "--tolerance", metavar="SHARE", help="Less than this is not a difference.  [default: 5%]"
)
@click.option(
    "--pivot",
    "as_pivot",
    is_flag=True,
    help="One table of sizes × settings with the best marked, instead of a line for each; csv, "
    "markdown and latex are such a table in any case.",
)
@options.format_of(FORMATS)
def command(run: str, by: str, tolerance: str | None, as_pivot: bool, form: str) -> None:
    """Print the best setting of a sweep for each size, with its gain over the default.

    A gain is significant after a correction for the number of comparisons.
    """
    from mpigauge.cli.runs.comparing import share_of
    from mpigauge.cli.runs.side_by_side import print_best
    from mpigauge.session.run_names import open_run

    in_any_case = form not in ("table", "json")
    print_best(open_run(run), by, share_of(tolerance), form, as_pivot or in_any_case, as_word(run))
