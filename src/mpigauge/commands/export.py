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
@click.argument(
    "form",
    type=click.Choice(["csv", "json", "parquet", "perfetto"]),
    metavar="csv|json|parquet|perfetto",
)
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
    """Write stored runs as one table, or the timeline of a profile.  [default: all in
    mpigauge-runs]

    perfetto: the calls that one profile has recorded, of the launch in the middle, as a trace for
    ui.perfetto.dev and chrome://tracing.
    """
    from mpigauge.cli import asking

    if form == "perfetto":
        return _write_trace(where, output, samples)
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
    return None


def _write_trace(where: tuple[str, ...], output: Path | None, samples: bool) -> None:
    from mpigauge.cli import asking
    from mpigauge.model.errors import UserError
    from mpigauge.products.profile.analyse.jobs import accounts_of, main_jobs
    from mpigauge.products.profile.finding import profile_at
    from mpigauge.products.profile.show.perfetto import write_perfetto

    if samples:
        raise UserError("--samples is for csv, json and parquet; leave it out")
    if len(where) != 1:
        raise UserError("perfetto is of one profile; name it: `mpigauge export perfetto last`")
    jobs = profile_at(where[0])
    if jobs is None:
        raise UserError(f"{where[0]} is not a profile; `mpigauge profile` makes one")
    accounts = accounts_of(main_jobs(jobs))
    if not accounts:
        raise UserError(f"{where[0]} holds no profile: no process in it came out of MPI_Init")
    with asking.output_file(output) as path, path.open("w", encoding="utf-8") as file:
        write_perfetto(accounts[0], file)
