# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge ls: lists stored runs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.runs.store import Summary
    from mpigauge.show.prometheus import Metric

COLUMNS = {"run": "run", "status": "status", "mpi": "MPI", "command": "command"}
"""Names and heads."""
STATUSES = ("done", "failed", "interrupted", "unfinished")
"""How runs end; one that goes on, or was killed, is unfinished."""


@click.command("ls")
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option(
    "--where",
    metavar="EXPR",
    help="Only runs for which this holds: an expression of SQL over the columns of the table "
    "runs, as \"mpi_name = 'mpich' and cells > 100\".",
)
@options.prometheus_option
@options.json_option
def command(folder: Path | None, where: str | None, metrics: Path | None, as_json: bool) -> None:
    """List the runs in a folder, oldest first.  [default: mpigauge-runs]"""
    from mpigauge.cli import metrics_file
    from mpigauge.cli.text_tables import print_rows
    from mpigauge.runs.store.writer import DEFAULT_ROOT

    if metrics is not None:
        metrics_file.check_file(metrics)
    root = folder or DEFAULT_ROOT
    runs = [] if not folder and not root.is_dir() else _chosen(root, where) if where else _all(root)
    if metrics is not None:
        from mpigauge.runs.store import list_runs

        listed = {name for name, *_ in runs}
        found = list_runs(root) if runs else []
        metrics_file.write(metrics, metrics_of([run for run in found if run.path.name in listed]))
    if not runs and not as_json:
        click.echo(f"no runs in {root}" + (f" where {where}" if where else ""), err=True)
        return
    print_rows(COLUMNS, runs, as_json)


def metrics_of(runs: Sequence[Summary]) -> Iterator[Metric]:
    """When each run was made, how it ended, and how many there are."""
    from mpigauge.model.moments import unix_time
    from mpigauge.show.prometheus import Metric, one_of

    named = [({"run": run.path.name, "mpi": run.mpi}, run) for run in runs]
    yield Metric("mpigauge_runs", "How many runs are stored.", (({}, float(len(runs))),))
    yield Metric(
        "mpigauge_run_timestamp_seconds",
        "When each run was made, in seconds since 1970.",
        tuple((labels, unix_time(run.created)) for labels, run in named),
    )
    yield Metric(
        "mpigauge_run_status",
        "How each run ended: 1 for what it is, 0 for what it is not.",
        tuple(
            series
            for labels, run in named
            for series in one_of(labels, "status", STATUSES, run.status)
        ),
    )


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
