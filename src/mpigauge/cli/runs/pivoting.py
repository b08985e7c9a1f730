# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`--pivot`: sizes down, and placements, settings or runs across, as commands ask for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mpigauge.cli import completing
from mpigauge.cli.options import together
from mpigauge.cli.output import screen, write
from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from mpigauge.result.compare.match.side import Side
    from mpigauge.result.compare.pivot import Pivot
    from mpigauge.runs.store import Run

_F = TypeVar("_F", bound=Callable[..., Any])
FORMATS = ("table", "markdown", "csv", "latex", "json")
ONLY_PIVOTS = ("markdown", "latex")
"""Formats in which comparisons are shown as a pivot in any case."""
SAME_AS = {"setting": "arm", "settings": "arm"}
"""Words for columns that have another name in the store."""

pivot_options = together(
    click.option(
        "--pivot",
        "pivot",
        metavar="COLUMN",
        shell_complete=completing.columns,
        help="One table of sizes × this: placement, setting, mpi, run, ranks, host, date or any "
        "other column of a cell.",
    ),
    click.option(
        "--to",
        "to",
        metavar="NAME",
        help="With --pivot: the column that the others are a ratio to.  [default: the first]",
    ),
)


def sides_across(runs: Sequence[Run], column: str) -> tuple[list[Side], str]:
    """A side for each value of the column, and which column of cells it is; empty: of runs.
    UserError: there is no such column, or one value of it."""
    from mpigauge.result.compare.pivot import OF_RUNS

    stored = SAME_AS.get(column, column)
    if stored in OF_RUNS:
        sides, varied = _whole_runs(runs, stored), ""
    else:
        sides, varied = _parts_of(runs, stored), stored
    if len(sides) < 2:
        only = "".join(f" ({side.name})" for side in sides)
        raise UserError(f"--pivot {column}: there is one value of it{only}; nothing beside it")
    return sides, varied


def show_pivot(runs: Sequence[Run], column: str | None, to: str | None, form: str) -> None:
    """Prints the pivot that --pivot and --to ask for. UserError: also if only --to is given."""
    print_pivot(pivot_of(runs, column, to, form), form, runs)


def pivot_of(runs: Sequence[Run], column: str | None, to: str | None, form: str) -> Pivot:
    """The pivot that is asked for, not yet printed. UserError: it does not exist."""
    from mpigauge.result.stats.verdicts import TOLERANCE

    if not column:
        raise UserError("--to names the column of ratios of a pivot; add --pivot COLUMN")
    check_form(form)
    sides, varied = sides_across(runs, column)
    return pivoted(sides, TOLERANCE, varied, to)


def pivoted(
    sides: Sequence[Side], tolerance: float, varied: str = "", to: str | None = None
) -> Pivot:
    """UserError: the sides have nothing in common."""
    from mpigauge.result.compare.pivot import pivot

    result = pivot(sides, tolerance, varied, to or "")
    if not result.tables:
        raise UserError("; ".join(["there is nothing to set side by side", *result.alone]))
    return result


def print_pivot(result: Pivot, form: str, runs: Sequence[Run], names: Sequence[str] = ()) -> None:
    """`names`: of the runs, where these are the columns."""
    from mpigauge.cli.runs.comparing import heading_of
    from mpigauge.model.cards import joined
    from mpigauge.show.pivoted import markup, text
    from mpigauge.show.pivoted.data import as_csv, as_json
    from mpigauge.show.pivoted.words import remarks_of, tables_of

    if form in ("csv", "json"):
        as_text = {"csv": as_csv, "json": as_json}[form]
        write(as_text(result))
        return
    tables = tables_of(result, joined([run.cards for run in runs]))
    heading = heading_of(runs, names or [run.path.name for run in runs])
    notes = remarks_of(result)
    if form == "table":
        write(text.render(tables, heading, notes, screen()))
    elif form == "markdown":
        write(markup.markdown(tables, heading, notes))
    else:
        write(markup.latex(tables, heading, notes))


def check_form(form: str) -> None:
    """UserError: pivots have no such format."""
    if form not in FORMATS:
        raise UserError(f"--format {form} shows no pivot; there are {', '.join(FORMATS)}")


def _whole_runs(runs: Sequence[Run], column: str) -> list[Side]:
    from mpigauge.cli.runs.comparing import distinct, items_of
    from mpigauge.result.compare.match.of_runs import side_of

    values = [_fact(run, column) for run in runs]
    folders = [run.path.resolve().name for run in runs]
    both = [f"{value} ({name})" for value, name in zip(values, folders, strict=True)]
    names = distinct(values, both)
    sides: list[Side] = []
    for name, run in zip(names, runs, strict=True):
        sides.append(side_of(name, run, items_of(run)))
    if column == "date":
        sides.sort(key=lambda side: side.name)
    return sides


def _fact(run: Run, column: str) -> str:
    from mpigauge.result.facts import facts_of_run

    facts = facts_of_run(run)
    if column == "date":
        return facts.created.replace("T", " ").removesuffix("Z")
    if column == "mpi":
        return facts.mpi or "unknown MPI"
    if column == "host":
        return ", ".join(facts.hosts) or facts.host or "unknown host"
    return run.path.resolve().name


def _parts_of(runs: Sequence[Run], column: str) -> list[Side]:
    """The sides of one run: one for each value. Of several runs: for each value of each run."""
    from mpigauge.cli.runs.comparing import names_of
    from mpigauge.result.compare.compare import parts
    from mpigauge.result.compare.match.of_runs import (
        facts_of,
        lost_ratio_of,
        settings_of_sweep,
        starts_of,
    )
    from mpigauge.result.document import document

    by_run: list[list[Side]] = []
    values: list[str] = []
    for run in runs:
        shown, swept = document(run), settings_of_sweep(run)
        sides = parts(shown.rows, shown.figures, column, starts_of(run), swept, "--pivot")
        by_run.append(sides)
        values += [side.name for side in sides]
    if len(runs) == 1:
        return by_run[0]
    need_run = len(set(values)) < len(values)
    all_sides: list[Side] = []
    for name, run, sides in zip(names_of(runs), runs, by_run, strict=True):
        facts, lost_ratio = facts_of(run), lost_ratio_of(run)
        for side in sides:
            of_run = replace(side, facts=facts, lost_ratio=lost_ratio, run_alone=True)
            if need_run:
                of_run = replace(of_run, name=f"{name} {side.name}")
            all_sides.append(of_run)
    return all_sides
