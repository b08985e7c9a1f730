# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge history: the results of earlier runs, for the ± of later ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Group
from mpigauge.model.errors import UserError
from mpigauge.model.units import listed

if TYPE_CHECKING:
    from mpigauge.runs.store.history import History


COLUMNS = {
    "machine": "machine", "mpi": "MPI", "runs": "runs", "since": "from … to", "known": "known",
}  # fmt: skip
"""Names and heads."""


@click.group("history", cls=Group)
def command() -> None:
    """Manage the run history behind "± machine".

    Each machine and MPI has a small file in your data folder. MPIGAUGE_HISTORY=off, or --no-history
    of a command that measures, switches it off; MPIGAUGE_HISTORY=FOLDER puts it elsewhere.
    """


@command.command("list")
@options.json_option
def list_command(as_json: bool) -> None:
    """List the machines and MPIs in the history."""
    from mpigauge.cli.output.text_tables import print_rows
    from mpigauge.model.between import LEAST_RUNS

    root = _folder()
    histories = _histories(root)
    if not histories and not as_json:
        click.echo(f"no runs are in the history in {root}", err=True)
        return
    shown = [
        [each.place.machine, each.place.mpi, str(len(each.runs)), _since(each),
         "yes" if len(each.runs) >= LEAST_RUNS else f"after {LEAST_RUNS}"]
        for each in histories
    ]  # fmt: skip
    print_rows(COLUMNS, shown, as_json)
    click.echo(f"mpigauge: kept in {root}", err=True)


@command.command("clear")
@click.option("--mpi", "mpi", metavar="WORD", help="Only MPIs with this in their name or version.")
@click.option("--machine", metavar="WORD", help="Only machines with this in their name.")
def clear_command(mpi: str | None, machine: str | None) -> None:
    """Clear the history of all machines and MPIs, or of some.

    Stored runs keep the ± that they have printed.
    """
    from mpigauge.runs.store import history

    root = _folder()
    words = {"mpi": mpi, "machine": machine}
    chosen = [each for each in _histories(root) if _fits(each, mpi, machine)]
    if not chosen and (mpi or machine):
        stored = "; ".join(f"{each.place.machine}: {each.place.mpi}" for each in _histories(root))
        asked = listed(f"--{name} {word}" for name, word in words.items() if word)
        raise UserError(
            f"{asked}: the history has no match; "
            + (f"there are {stored}" if stored else "nothing is")
        )
    try:
        history.clear(chosen)
    except OSError as error:
        raise UserError(f"cannot forget {error.filename}: {error.strerror}") from None
    for each in chosen:
        click.echo(f"forgotten: {each.place.machine}, {each.place.mpi} ({len(each.runs)} runs)")
    if not chosen:
        click.echo(f"no runs are in the history in {root}", err=True)


@command.command("rebuild")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=completing.runs)
def rebuild_command(runs: tuple[str, ...]) -> None:
    """Add stored runs to the history.

    RUN is a run folder, its name below mpigauge-runs, `last`, or a folder that holds runs. They are
    added in the order of their measurement.
    """
    from mpigauge.measuring.campaign.memory import rebuild
    from mpigauge.runs.store import load

    root = _folder()
    stored = [load(path, cards=False) for word in runs for path in _folders(word)]
    try:
        kept = rebuild(root, stored)
    except OSError as error:
        raise UserError(f"cannot write into {root}: {error.strerror or error}") from None
    click.echo(f"{len(kept)} of {len(stored)} runs are in the history now")
    if len(kept) < len(stored):
        click.echo(
            "mpigauge: not those that were imported or measured with --classic, those whose "
            "machine is not known, and those of a single launch",
            err=True,
        )


def _folder() -> Path:
    from mpigauge.runs.store import history

    root = history.folder()
    if root is None:
        raise UserError(f"the history is switched off by {history.SWITCH}; unset it to use one")
    return root


def _histories(root: Path) -> list[History]:
    from mpigauge.runs.store import history

    return history.histories(root)


def _since(history: History) -> str:
    days = [run.when[:10] for run in history.runs]
    if days:
        return f"{days[0]} to {days[-1]}"
    return ""


def _fits(history: History, mpi: str | None, machine: str | None) -> bool:
    return (mpi or "") in history.place.mpi and (machine or "") in history.place.machine


def _folders(word: str) -> list[Path]:
    """The run that is meant, or all runs in the folder that is."""
    from mpigauge.runs.store import run_folders
    from mpigauge.session.run_names import find_run

    path = Path(word)
    if not path.is_dir() or (path / "run.json").exists():
        return [find_run(word)]
    runs = list(run_folders(path).values())
    if not runs:
        raise UserError(f"there is no run in {path}")
    return runs
