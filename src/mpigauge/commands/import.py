# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
# ruff: noqa: N999
"""mpigauge import: makes a run of what other programs printed."""

from __future__ import annotations

from pathlib import Path

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Command
from mpigauge.cli.paths import OutputFolder
from mpigauge.cli.runs.pivoting import pivot_options
from mpigauge.model.limits import MOST_RANKS


@click.command("import", cls=Command)
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE..."
)
@click.option("--as", "reader", metavar="READER", help="Reader to use.  [default: all that fit]")
@click.option(
    "--benchmark", default="", metavar="NAME", help="Benchmark of tables without a heading."
)
@click.option(
    "--ranks",
    type=click.IntRange(1, MOST_RANKS),
    metavar="N",
    help="Number of ranks, if the program does not print it.",
)
@click.option(
    "--apart",
    is_flag=True,
    help="Treat each file as a separate setting named after it.",
)
@click.option(
    "--machine",
    metavar="NAME",
    help="Machine that was measured: only runs of one machine make a trend.",
)
@click.option(
    "--date",
    metavar="DATE",
    help="Date of the measurement: 2026-11-21 or 2026-11-21T05:00Z.  [default: as in the text]",
)
@click.option(
    "--output",
    type=OutputFolder(),
    metavar="DIR",
    help="Folder of the run, which must not hold anything yet; for packed runs, the folder above "
    "them.  [default: a new one below mpigauge-runs]",
)
@click.option(
    "--label", metavar="NAME", help="Part of the run's name.  [default: the first file's]"
)
@pivot_options
@options.format_option()
def command(
    files: tuple[Path, ...],
    reader: str | None,
    benchmark: str,
    ranks: int | None,
    apart: bool,
    machine: str | None,
    date: str | None,
    output: Path | None,
    label: str | None,
    pivot: str | None,
    to: str | None,
    form: str,
) -> None:
    """Import output of IMB, OSU's benchmarks, STREAM, HPL and others as a run, and show it.

    Logs may have several outputs, output of launchers and other lines; unreadable lines of tables
    are named. Several files are several launches of one run; with --apart they are settings for
    `mpigauge compare`, side by side with --pivot setting. Files that `mpigauge share` has made
    become runs again, below mpigauge-runs or the DIR of --output.
    """
    from mpigauge.cli.output import tell
    from mpigauge.cli.output.showing import check_rows, show
    from mpigauge.cli.runs.pivoting import show_pivot
    from mpigauge.model.errors import UserError
    from mpigauge.model.units import listed
    from mpigauge.products.imported.importing import (
        date_said,
        machine_said,
        read_files,
        report_remarks,
        tell_undated,
        tell_unread,
        unpack_all,
    )
    from mpigauge.products.profile.launch.profiling import call_sites
    from mpigauge.products.profile.printing import print_profile
    from mpigauge.products.profile.store.reported import header_of, reported_jobs, save_reported
    from mpigauge.runs.store import load
    from mpigauge.runs.store.imported import removed_on, write_imported
    from mpigauge.runs.store.pack import is_pack
    from mpigauge.runs.store.writer import DEFAULT_ROOT

    where, when = machine_said(machine), date_said(date)
    if packs := [file for file in files if is_pack(file)]:
        if machine is not None or date is not None:
            raise UserError(
                f"{packs[0]} is a packed run, which has its machine and date; leave out "
                "--machine and --date"
            )
        unpack_all(files, packs, output or DEFAULT_ROOT, form)
        return
    reading = read_files(files, reader, benchmark, ranks or 0, apart)
    jobs = reported_jobs(reading)
    if jobs and (pivot or to):
        raise UserError(
            f"--pivot sets sizes of messages down, and {files[0]} is a profile; leave it out"
        )
    name = label or files[0].stem
    more = header_of(jobs) if jobs else {}
    sites = [site for job in jobs for site in call_sites(job)]
    texts = list(map(str, files))
    with removed_on(UserError, output) as folders:
        folder = write_imported(reading, texts, output, name, where, when, more, sites)
        folders.append(folder)
        save_reported(jobs, folder)
        run = load(folder)
        if pivot or to:
            show_pivot([run], pivot, to, form)
        elif jobs:
            print_profile(folder, jobs, form)
        else:
            check_rows(run, form)
            show(run, form)
    if form != "table":
        report_remarks(reading)
    tell_unread(reading)
    if reading.profiles and not jobs:
        sources = listed(dict.fromkeys(profile.source for profile in reading.profiles))
        tell(
            f"other results are next to what {sources} reports, which is kept as figures; import "
            "it alone to see it as a profile"
        )
    tell_undated(run)
    click.echo(f"imported into {folder}", err=True)
