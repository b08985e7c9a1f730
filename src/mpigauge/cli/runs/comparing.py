# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Stored runs as the sides of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.result.compare.match.items import Item
    from mpigauge.result.compare.match.side import Side
    from mpigauge.runs.store import Run

FORMATS = ("table", "json", "csv", "markdown", "latex")
MANY = 3
"""The least number of sides for a pivot: with a line for each, the list would be too long."""


def sides_of(runs: Sequence[Run]) -> list[Side]:
    """Named by their MPIs where these differ, else by their hosts, else by their folders."""
    from mpigauge.result.compare.match.of_runs import side_of
    from mpigauge.result.fabric.items import comparable

    sides: list[Side] = []
    for name, run in zip(names_of(runs), runs, strict=True):
        sides.append(side_of(name, run, comparable(items_of(run))))
    return sides


def names_of(runs: Sequence[Run]) -> Sequence[str]:
    """One for each, none twice: of their MPIs, their hosts or their folders."""
    from mpigauge.result.facts import facts_of_run

    facts = list(map(facts_of_run, runs))
    return distinct(
        [each.mpi for each in facts],
        [each.host for each in facts],
        [run.path.resolve().name for run in runs],
        [str(run.path) for run in runs],
    )


def items_of(run: Run) -> tuple[Item, ...]:
    """All that a run holds and that can be compared."""
    from mpigauge.model.record import JOB, Figure
    from mpigauge.result.compare.match.distances import distances_of
    from mpigauge.result.compare.match.items import items
    from mpigauge.result.document import document
    from mpigauge.result.fabric.items import network_items

    figures = [figure for figure in run.of(Figure) if figure.benchmark != JOB]
    rows = document(run).rows
    return (*items(rows, figures, distance=distances_of(run)), *network_items(run, rows))


def sides_within(run: Run, column: str) -> list[Side]:
    """A side for each value of this column."""
    from mpigauge.result.compare.compare import split
    from mpigauge.result.compare.match.of_runs import settings_of_sweep, starts_of
    from mpigauge.result.document import document

    shown = document(run)
    return split(shown.rows, shown.figures, column, starts_of(run), settings_of_sweep(run))


def heading_of(runs: Sequence[Run], names: Sequence[str]) -> list[str]:
    """The heading lines of all runs, each once; with several runs, with their names."""
    from mpigauge.result.facts import facts_of_run
    from mpigauge.show.heading import brief_heading

    lines = []
    for number, run in enumerate(runs):
        first, *others = brief_heading(facts_of_run(run))
        if len(runs) > 1 and names[number] not in first:
            first = f"{names[number]}: {first}"
        lines += [first, *others]
    return list(dict.fromkeys(lines))


def print_comparison(comparison: Comparison, form: str, runs: Sequence[Run]) -> None:
    from mpigauge.show.comparisons.beside import render
    from mpigauge.show.comparisons.compared import as_csv, as_json
    from mpigauge.show.comparisons.programs import own_programs, sentences

    programs = sentences(comparison, own_programs(runs))
    as_text: dict[str, Callable[[], str]] = {
        "table": lambda: render(
            comparison, runs[0].cards, heading_of(runs, comparison.names), programs
        ),
        "json": lambda: as_json(comparison, programs),
        "csv": lambda: as_csv(comparison),
    }
    click.echo(as_text[form](), nl=False)


def share_of(word: str | None) -> float:
    """The value of --tolerance, or the default."""
    from mpigauge.measuring.plan.arms.parse import parse_share
    from mpigauge.result.stats.verdicts import TOLERANCE

    if not word:
        return TOLERANCE
    return parse_share("--tolerance", word)


def distinct(*choices: Sequence[str]) -> Sequence[str]:
    """The first of these lists that has a name for each and no name twice."""
    for names in choices:
        if all(names) and len(set(names)) == len(names):
            return names
    return [f"{number}: {name}" for number, name in enumerate(choices[-1], 1)]
