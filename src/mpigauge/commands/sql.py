# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge sql: a query over stored runs."""

from __future__ import annotations

from pathlib import Path

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Command
from mpigauge.cli.paths import OutputFile

output_option = click.option(
    "-o",
    "--output",
    type=OutputFile(),
    help="Write it to this file.",
)


@click.command("sql", cls=Command)
@click.argument("query")
@click.argument("where", nargs=-1, metavar="[DIR|RUN...]")
@options.format_of(["table", "csv", "json", "parquet"], about="Format of the answer.")
@output_option
def command(query: str, where: tuple[str, ...], form: str, output: Path | None) -> None:
    """Query all runs in a folder with DuckDB SQL.  [default: mpigauge-runs]

    Tables: runs, rows (results over launches), cells (one row per launch), figures, call_sites
    (of profiles), ranks. `DESCRIBE rows` lists columns. A query only reads.
    """
    from mpigauge.cli import asking
    from mpigauge.model.extras import require
    from mpigauge.result.library import ask, write

    require("sql", "`mpigauge sql`")
    asking.check_output(form, output)
    of = asking.meant(where)
    with asking.output_file(output) as path:
        if form == "table":
            result = asking.answer(of, lambda library: ask(library.con, query))
            asking.write_table(result, path)
        else:
            asking.answer(of, lambda library: write(library.con, query, form, path))
