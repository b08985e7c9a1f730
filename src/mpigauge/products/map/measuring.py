# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The measurement of pairs of ranks: plan, launches, odd pairs once more, picture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.output.showing import print_run
from mpigauge.cli.output.terminal import TERMINAL
from mpigauge.cli.runs.placing import print_seats
from mpigauge.cli.runs.seats import seats_of
from mpigauge.draw.write import check_picture, draw
from mpigauge.measuring.plan import read_request
from mpigauge.model.errors import RunError, UserError
from mpigauge.products.map.plan import map_plan, one_after_the_other
from mpigauge.session.lookups import look_up
from mpigauge.session.measuring import PlannedRun, check, measure
from mpigauge.session.setup import set_up
from mpigauge.session.targets import CommandOptions
from mpigauge.show.formats import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.measuring.campaign import Results
    from mpigauge.measuring.plan import PlanPart, Resources
    from mpigauge.runs.store import Run


MOST_AGAIN = 64
"""Pairs that are measured once more, the worst."""


def measure_pairs(drawing: Path | None, pairs: str, benchmark: str, **values: Any) -> None:
    """Measures pairs of ranks, prints their map, and draws it. UserError: an option is wrong."""
    options = CommandOptions.taken(values)
    request = read_request(values, look_up(values))
    check_drawing(drawing, options.mpi_specs)
    runs = []
    for setup in set_up(request, options, TERMINAL, benchmarks=(benchmark,)):
        plan = map_plan(
            *(setup.request, setup.cards, setup.resources, setup.mpi),
            pairs=pairs,
            benchmark=benchmark,
        )
        runs.append(PlannedRun(setup, plan, OddPairs(plan.parts[0], setup.resources)))
    check(runs, options)
    if options.dry_run:
        print_seats(runs[0])
        print_times(runs)
        return
    measured = measure(runs, options.output, "map")
    for stored in measured.runs:
        refuse_nothing(stored)
        print_run(stored, options.form or "map")
        if drawing is not None:
            write_picture(stored, drawing)
    measured.raise_problems()


def check_drawing(file: Path | None, mpi_specs: Sequence[str]) -> None:
    """Checks that a picture can be kept, before anything is measured for it."""
    if file is None:
        return
    if len(mpi_specs) > 1:
        raise UserError(
            "--draw makes a picture of one MPI; draw each with `mpigauge show --format svg`"
        )
    check_picture(file, "--draw")


def print_times(runs: Sequence[PlannedRun]) -> None:
    """Prints the schedule of the pairs and the estimated time, for each MPI."""
    from mpigauge.session.costing import cost_words, schedule_words

    click.echo(f"\n{schedule_words(runs[0])}")
    for run in runs:
        click.echo(f"{run.setup.mpi.label}: {cost_words(run)}")


@dataclass(frozen=True)
class OddPairs:
    """Measures the pairs of this part that stood out once more, alone."""

    part: PlanPart
    resources: Resources

    def parts(self, results: Results) -> Sequence[PlanPart]:
        from mpigauge.result.pairs import map_of, pair_map

        seats = seats_of(self.part, self.resources)
        result = pair_map(results.rows(), *seats)
        if results.blocks:
            from mpigauge.result.large_map import sheets_of
            from mpigauge.runs.store.pair_times import pairs_in

            result = map_of(sheets_of(pairs_in(results.blocks)), *seats)
        if result is None:
            return []
        odd = [each for sheet in result.sheets for each in sheet.odd]
        odd.sort(key=lambda each: -each.ratio)
        pairs = dict.fromkeys(each.pair[:2] for each in odd)
        chosen = [[pair] for pair in list(pairs)[:MOST_AGAIN]]
        if not chosen:
            return []
        return [replace(self.part, pairs=one_after_the_other(chosen))]


def refuse_nothing(stored: Run) -> None:
    """Refuses to draw a map of pairs that were all left out. RunError: why they were."""
    if not stored.cells:
        reasons = ", ".join(dict.fromkeys(skip.reason for skip in stored.skips))
        raise RunError(
            f"no pair was measured: {reasons or 'the kernels give no reason'}; give it more time "
            f"with --time, or fewer pairs (all that is known is in {stored.path})"
        )


def write_picture(stored: Run, file: Path) -> None:
    from mpigauge.result.document import document
    from mpigauge.result.large_map import load_map

    large = load_map(stored.path) if stored.part else None
    draw(render("svg", large.document if large else document(stored)), file)
    click.echo(f"mpigauge: drawn in {file}", err=True)
