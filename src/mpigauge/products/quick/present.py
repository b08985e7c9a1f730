# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A run of `mpigauge quick` on one screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mpigauge.cli.output import screen, write
from mpigauge.measuring.live.console import console_of
from mpigauge.measuring.live.matrix import matrix
from mpigauge.model.cards import NODE_SUITE
from mpigauge.model.width import as_blocks, broken
from mpigauge.products.quick import show as first
from mpigauge.products.quick.fitness import fitness
from mpigauge.products.quick.result import machine_errors
from mpigauge.result.document import document
from mpigauge.result.trust import trust
from mpigauge.session.limiting import with_limits
from mpigauge.show.ending import last_lines, measured_lines
from mpigauge.show.heading import note_lines

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.runs.store import Run


RANGES = "…: the range of fewer than six launches, which is no interval."
"""The explanation of the sign in front of a range."""


def present(stored: Run, named: bool = False, word: str = "") -> None:
    """Prints a run on one screen, the answer last: all benchmarks in one table, those of the
    machine itself as limits, the headline, the fitness of the machine for measuring, the count of
    the remarks, and the next command. `named`: below the name of the MPI, as there are others;
    `word`: the run in these commands."""
    from dataclasses import replace

    precision = stored.plan.get("precision") or 0.0
    shown = with_limits(document(stored, precision), stored)
    shown = replace(shown, run=word or shown.run)
    messages = [row for row in shown.rows if row.cell.suite != NODE_SUITE]
    fit = fitness(shown.rows, stored.noise, precision)
    if named:
        click.echo(f"--- {shown.facts.mpi}")
    colour = screen().coloured
    sentences = first.sentence(fit, precision)
    if shown.change or any(row.wrong_count for row in shown.rows):
        sentences = trust(shown.rows, shown.change)
    at_other_times = first.at_other_times(machine_errors(messages))
    limits = first.limit_lines(shown.limits) if shown.limits else []
    blocks = [
        [*picture(messages, precision), *limits],
        note_lines(shown, colour) if shown.notes else [],
        measured_lines(shown, colour),
        [
            *broken([" ".join(filter(None, (sentences, at_other_times)))], indent=""),
            *last_lines(shown, first.next_step(shown, fit.grade), colour),
        ],
    ]
    write(as_blocks(blocks))


def picture(rows: Sequence[Row], precision: float) -> list[str]:
    """A line for each benchmark."""
    here = screen()
    console = console_of(here)
    with console.capture() as captured:
        console.print(matrix(rows, precision, here.room, unicode=here.unicode))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    if any(row.is_range for row in rows):
        lines.append(RANGES)
    return lines
