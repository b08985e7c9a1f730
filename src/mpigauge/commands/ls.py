# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge ls: lists stored runs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from mpigauge.cli import options

COLUMNS = {"run": "run", "status": "status", "mpi": "MPI", "command": "command"}
"""Names and heads."""


@click.command("ls")
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option(
    "--where",
    metavar="EXPR",
    help="Only runs for which this holds: an expression of SQL over the columns of the table "
    "runs, as \"mpi_name = 'mpich' and cells > 100\".",
)
@options.json_option
def command(folder: Path | None, where: str | None, as_json: bool) -> None:
    """List the runs in a folder, oldest first.  [default: mpigauge-runs]"""
    from mpigauge.cli.text_tables import print_rows
    from mpigauge.runs.store.writer import DEFAULT_ROOT

    root = folder or DEFAULT_ROOT
    runs = [] if not folder and not root.is_dir() else _chosen(root, where) if where else _all(root)
    if not runs and not as_json:
        click.echo(f"no runs in {root}" + (f" where {where}" if where else ""), err=True)
        return
    print_rows(COLUMNS, runs, as_json)


def _all(root: Path) -> list[list[str]]:
    from mpigauge.runs.store import list_runs, run_folders

    runs = list_runs(root)
    for name in sorted(run_folders(root).keys() - {run.path.name for run in runs}):
        click.echo(f"mpigauge: left out: {root / name / 'run.json'} is damaged", err=True)
    return [[run.path.name, run.status, run.mpi, " ".join(run.command)] for run in runs]


def _chosen(root: Path, where: str) -> list[list[str]]:
    from mpigauge.cli import asking
    from mpigauge.model.extras import is_installed, require
    from mpigauge.result.library import ask
    from mpigauge.runs.store import run_folders

    runs = run_folders(root)
    if not is_installed("sql"):
        if find_spec("_sqlite3") is None:
            require("sql", "--where with a Python that was built without SQLite")
        from mpigauge.result.library.listing import chosen

        return [list(map(str, row)) for row in chosen(runs, where, [*COLUMNS], asking.say_notes)]
    query = f"SELECT {', '.join(COLUMNS)} FROM runs WHERE ({where}\n) ORDER BY created, run"
    of = asking.Meant(runs, root)
    found = asking.answer(of, lambda library: ask(library.con, query, ("runs",)))
    return [list(map(str, row)) for row in found.rows]
