# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge report: a run as one page for any browser."""

from __future__ import annotations

from pathlib import Path

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command
from mpigauge.cli.options import limits_option
from mpigauge.cli.paths import OutputFile
from mpigauge.model.errors import UserError


@click.command("report", cls=Command)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=completing.runs)
@click.option(
    "-o",
    "--output",
    "target",
    type=OutputFile(),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE.html",
    help="File to write.",
)
@limits_option
@options.job_option
def command(runs: tuple[str, ...], target: Path, limits_of: str | None, job: int | None) -> None:
    """Write a run as one page: the answer in words, the machine, plots, settings and data.

    The page needs no network and no other file. It is about the first run; others, and references
    (`mpigauge ref list`), are curves beside it and are compared with it. A profile has a page of
    its own: call sites, ranks, peers, sizes. Of the folder of a tuning it shows what the rules have
    gained, and what stays at the default and why.
    """
    from mpigauge.cli.runs.kinds import kind_among
    from mpigauge.cli.runs.reporting import write_page
    from mpigauge.draw.write import check_folder

    if target.suffix not in (".html", ".htm"):
        raise UserError(f"-o {target}: a report is a page; its name ends with .html")
    check_folder(target, "-o")
    kind = kind_among(runs)
    kind.check_job(runs, job)
    write_page(kind.page(runs, limits_of, job=job), target)
    click.echo(f"mpigauge: written to {target}", err=True)
