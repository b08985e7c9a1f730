# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge export: stored runs as one table for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from mpigauge.cli.helping import Command
from mpigauge.commands.sql import output_option

_TABLES = ("rows", "cells", "runs", "figures", "call_sites", "ranks")


@click.command("export", cls=Command)
@click.argument("form", type=click.Choice(["csv", "json", "parquet"]), metavar="csv|json|parquet")
@click.argument("where", nargs=-1, metavar="[DIR|RUN...]")
@click.option(
    "--table",
    type=click.Choice(_TABLES),
    default=_TABLES[0],
    show_default=True,
    help="Results over launches, each launch, or one of the others that `mpigauge sql` has.",
)
@click.option("--samples", is_flag=True, help="A line for every sample that was stored.")
@output_option
def command(
    form: str, where: tuple[str, ...], table: str, samples: bool, output: Path | None
) -> None:
    """Write stored runs as one table.  [default: all in mpigauge-runs]"""
    from mpigauge.cli import asking
    from mpigauge.model.extras import require
    from mpigauge.result.library import Library, write
    from mpigauge.result.library.samples import add_samples

    require("sql", "`mpigauge export`")
    asking.check_output(form, output)
    of = asking.meant(where)

    def go(library: Library, path: Path) -> None:
        if samples:
            asking.say_notes(add_samples(library.con, of.runs))
        write(library.con, f"SELECT * FROM {'samples' if samples else table}", form, path)

    with asking.output_file(output) as path:
        asking.answer(of, lambda library: go(library, path))
