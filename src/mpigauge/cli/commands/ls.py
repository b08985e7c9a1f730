# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge ls: lists stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mpigauge.store import Summary


@click.command("ls")
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
def command(folder: Path | None) -> None:
    """List the runs in a folder, oldest first.  [default: mpigauge-runs]"""
    from mpigauge.cli.tables import lines
    from mpigauge.store import list_runs
    from mpigauge.store.writer import DEFAULT_ROOT

    root = folder or DEFAULT_ROOT
    runs = list_runs(root) if folder or root.is_dir() else []
    if not runs:
        click.echo(f"no runs in {root}", err=True)
        return
    for line in lines(["run", "status", "MPI", "command"], [_words(run) for run in runs]):
        click.echo(line)


def _words(run: Summary) -> list[str]:
    return [run.path.name, run.status, run.mpi, " ".join(run.command)]
