# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The final output of sweep, best and run: a line for each number, or a pivot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mpigauge.cli.comparing import MANY, heading_of, print_comparison, sides_of, sides_within
from mpigauge.cli.pivoting import pivoted, print_pivot

if TYPE_CHECKING:
    from mpigauge.runs.store import Run


def print_best(run: Run, by: str, tolerance: float, form: str, as_pivot: bool = False) -> None:
    """The best arm for each size; UserError: the run has one arm only."""
    from mpigauge.result.compare.best import best_of
    from mpigauge.result.compare.compare import compare
    from mpigauge.show.best import as_json, render

    sides = sides_within(run, by)
    if as_pivot:
        print_pivot(pivoted(sides, tolerance, by), form, [run])
        return
    result = best_of(compare(sides, tolerance, by, curves=False))
    if form == "json":
        text = as_json(result)
    else:
        text = render(result, run.cards, heading_of([run], result.comparison.names))
    click.echo(text, nl=False)


def print_beside(stored: Sequence[Run]) -> None:
    """Each number of a run beside those of the other MPIs; of three and more as a pivot."""
    from mpigauge.result.compare.compare import compare
    from mpigauge.result.stats.verdicts import TOLERANCE

    sides = sides_of(stored)
    if len(sides) < MANY:
        print_comparison(compare(sides), "table", stored)
    else:
        print_pivot(pivoted(sides, TOLERANCE), "table", stored, [side.name for side in sides])
    for run in stored:
        click.echo(f"mpigauge: stored in {run.path}", err=True)
