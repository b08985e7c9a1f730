# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge share: packs a stored run into one file."""

from __future__ import annotations

from pathlib import Path

import click

from mpigauge.cli import completing
from mpigauge.cli.helping import Command
from mpigauge.cli.paths import OutputFile


@click.command("share", cls=Command)
@click.argument("run", metavar="RUN", shell_complete=completing.runs)
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    metavar="FILE.mpigauge",
    help="The file.  [default: the run's name, here]",
)
@click.option(
    "--anonymous",
    is_flag=True,
    help="Take out names of hosts and users, home folders, addresses, values of --env, names that "
    "you gave, and what the batch system set: node1, user1, … stand for them, the same "
    "everywhere.",
)
def command(run: str, output: Path | None, anonymous: bool) -> None:
    """Pack a stored run into one small file, which `mpigauge show` reads on any machine.

    RUN is a folder, its name below mpigauge-runs or the beginning of it, or `last`.
    """
    from mpigauge.cli.runs.kinds import kind_of
    from mpigauge.model.units import many, memory
    from mpigauge.runs.store.anonymize import STAYS
    from mpigauge.runs.store.pack import pack
    from mpigauge.session.run_names import find_run

    folder = find_run(run)
    kind_of(run).complete(run)
    file, taken, left_out = pack(folder, output, anonymous)
    for sentence in left_out:
        click.echo(f"mpigauge: {sentence}", err=True)
    click.echo(f"mpigauge: {file}, {memory(file.stat().st_size)}", err=True)
    if anonymous:
        counts = ", ".join(many(count, kind) for kind, count in taken.items())
        click.echo(f"mpigauge: taken out: {counts or 'no names'}", err=True)
        click.echo("mpigauge: it keeps these; check them before you publish it:", err=True)
        for each in STAYS:
            click.echo(f"  {each}", err=True)
