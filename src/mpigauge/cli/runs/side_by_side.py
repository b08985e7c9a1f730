# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The final output of sweep, best and run: a line for each number, or a pivot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from mpigauge.cli.output import screen, tell, write
from mpigauge.cli.runs.comparing import MANY, heading_of, print_comparison, sides_of, sides_within
from mpigauge.cli.runs.pivoting import pivoted, print_pivot
from mpigauge.model.units import many
from mpigauge.model.width import as_blocks, broken
from mpigauge.result.compare.best import best_of
from mpigauge.result.compare.compare import compare
from mpigauge.result.document import document
from mpigauge.result.stats.verdicts import TOLERANCE
from mpigauge.show.comparisons.best import as_json, render
from mpigauge.show.ending import last_lines
from mpigauge.show.pivoted.outcome import outcomes
from mpigauge.show.pivoted.words import names_of

if TYPE_CHECKING:
    from mpigauge.result.compare.pivot import Pivot
    from mpigauge.runs.store import Run


def print_best(
    run: Run, by: str, tolerance: float, form: str, as_pivot: bool = False, word: str = ""
) -> None:
    """The best arm for each size, then in a sentence over all sizes. `word`: the run in commands
    that are recommended. UserError: the run has one arm only."""
    sides = sides_within(run, by)
    across = pivoted(sides, tolerance, by) if form != "json" or as_pivot else None
    if across and as_pivot:
        print_pivot(across, form, [run])
    else:
        result = best_of(compare(sides, tolerance, by, curves=False))
        if form == "json":
            text = as_json(result)
        else:
            text = render(result, run.cards, heading_of([run], result.comparison.names))
        click.echo(text, nl=False)
    if across and form == "table":
        write("\n" + as_blocks([answer_lines(run, across, word, screen().coloured)]))


def answer_lines(run: Run, across: Pivot, word: str, colour: bool) -> list[str]:
    """The result of a sweep in sentences, the settings that failed, the count of the remarks, and
    the next command."""
    from dataclasses import replace

    shown = document(run)
    short = names_of(across).by_name
    sentences = [*_failures(run, short), *outcomes(across, short)]
    return broken(sentences) + last_lines(replace(shown, run=word or shown.run), colour=colour)


def _failures(run: Run, short: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each setting of which launches failed, with the reason of the first."""
    for name in short:
        mark = f" ({name}) failed: "
        reasons = [each.message.partition(mark)[2] for each in run.failures if mark in each.message]
        if reasons:
            launches = many(len(reasons), "launch")
            yield f"{short[name]} failed in {launches}: {reasons[0]}."


def print_beside(stored: Sequence[Run]) -> None:
    """Each number of a run beside those of the other MPIs; of three and more as a pivot."""
    for run in stored:
        tell(f"stored in {run.path}")
    sides = sides_of(stored)
    if len(sides) < MANY:
        print_comparison(compare(sides), "table", stored)
    else:
        print_pivot(pivoted(sides, TOLERANCE), "table", stored, [side.name for side in sides])
