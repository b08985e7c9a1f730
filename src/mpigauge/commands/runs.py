# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge runs: lists stored runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Command
from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from mpigauge.runs.store import Summary
    from mpigauge.show.tables.prometheus import Metric

COLUMNS = {"run": "run", "status": "status", "mpi": "MPI", "command": "command"}
"""Names and heads."""
STATUSES = ("done", "failed", "interrupted", "unfinished")
"""The final states of runs; one that is still running, or was killed, is unfinished."""


@click.command("runs", cls=Command)
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
    from mpigauge.cli.output.text_tables import print_rows
    from mpigauge.cli.runs import metrics_file
    from mpigauge.runs.store.writer import DEFAULT_ROOT

    if metrics is not None:
        metrics_file.check_file(metrics)
    root = folder or DEFAULT_ROOT
    runs = _listed(root, where, must_be_there=folder is not None)
    if metrics is not None:
        names = {name for name, *_ in runs}
        metrics_file.write(metrics, metrics_of(_summaries(root, names)))
    if runs or as_json:
        print_rows(COLUMNS, runs, as_json)
    elif where:
        click.echo(f"no runs in {root} where {where}", err=True)
    else:
        click.echo(f"no runs in {root}", err=True)


def _listed(root: Path, where: str | None, must_be_there: bool) -> list[list[str]]:
    """The rows of the table. UserError: there is no such folder, and there must be, or `where` is
    no expression."""
    from mpigauge.runs.store import run_folders

    there = must_be_there or root.is_dir()
    if where:
        return _chosen(run_folders(root) if there else {}, root, where)
    return _all(root) if there else []


def _summaries(root: Path, names: Collection[str]) -> list[Summary]:
    """The runs of these names."""
    from mpigauge.runs.store import list_runs

    if not names:
        return []
    return [run for run in list_runs(root) if run.path.name in names]


def metrics_of(runs: Sequence[Summary]) -> Iterator[Metric]:
    """The number of runs, and the time and final state of each."""
    from mpigauge.model.moments import unix_time
    from mpigauge.show.tables.prometheus import Metric, one_of

    named = [({"run": run.path.name, "mpi": run.mpi}, run) for run in runs]
    yield Metric("mpigauge_runs", "The number of stored runs.", (({}, float(len(runs))),))
    yield Metric(
        "mpigauge_run_timestamp_seconds",
        "The creation time of each run, in seconds since 1970.",
        tuple((labels, unix_time(run.created)) for labels, run in named),
    )
    endings: list[tuple[Mapping[str, str], float]] = []
    for labels, run in named:
        endings += one_of(labels, "status", STATUSES, run.status)
    yield Metric(
        "mpigauge_run_status",
        "The final state of each run: 1 for its value, 0 for the others.",
        tuple(endings),
    )


def _all(root: Path) -> list[list[str]]:
    from mpigauge.runs.store import list_runs, run_folders

    runs = list_runs(root)
    rows: dict[str, list[str]] = {}
    for run in runs:
        rows[run.path.name] = [run.path.name, run.status, run.mpi, " ".join(run.command)]
    for name in sorted(run_folders(root).keys() - rows.keys()):
        click.echo(f"mpigauge: left out: {root / name / 'run.json'} is damaged", err=True)
    return list(rows.values())


def _chosen(runs: Mapping[str, Path], root: Path, where: str) -> list[list[str]]:
    from mpigauge.cli import asking
    from mpigauge.model.extras import require
    from mpigauge.result.library import ask

    require("sql", "`mpigauge runs --where`")
    query = f"SELECT {', '.join(COLUMNS)} FROM runs WHERE ({where}\n) ORDER BY created, run"
    of = asking.Meant(runs, root)
    try:
        answer = asking.answer(of, lambda library: ask(library.con, query, ("runs",)))
    except UserError as error:
        raise UserError(f"--where: {error}") from None
    return [list(map(str, row)) for row in answer.rows]
