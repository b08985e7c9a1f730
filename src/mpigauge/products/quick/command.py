# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge quick: the whole picture of a machine in less than a minute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Command

LEAST_CPU = 8
"""Columns that the name of a CPU needs at least."""
RANGES = "…: the range of fewer than six launches, which is no interval."
"""The explanation of the sign in front of a range."""

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.runs.store import Run
    from mpigauge.session.targets import Setup


@click.command("quick", cls=Command)
@options.together(
    *options.all_shared(
        "mpi transport time launches precision set env place bind-by hosts hostfile ppn "
        "launcher rsh oversubscribe dry-run topology seed timeout"
    ),
    options.format_option(default=None),
    *options.all_shared("output no-history"),
)
def command(**values: Any) -> None:
    """Measure this machine in less than a minute.

    Messages between two cores, a few collectives on all cores, and what the machine could do at
    most: each with its error, and in one sentence how good the machine is for measuring. It ends
    as soon as all of it is precise. Where there is no MPI at all, MPICH is fetched first.
    """
    from mpigauge.cli.placing import print_seats
    from mpigauge.cli.screen import tell
    from mpigauge.cli.showing import print_run, word_of
    from mpigauge.cli.terminal import TERMINAL
    from mpigauge.measuring.plan import read_request
    from mpigauge.products.quick.plan import BENCHMARKS, check_cores, quick
    from mpigauge.products.quick.provide import provide
    from mpigauge.session.lookups import look_up
    from mpigauge.session.measuring import PlannedRun, check, measure
    from mpigauge.session.setup import set_up, target_of
    from mpigauge.session.targets import CommandOptions
    from mpigauge.site.topology import read

    options = CommandOptions.taken(values)
    request = read_request(values, look_up(values))
    target = target_of(request, options)
    if not target.hosts:
        check_cores(request, target.topology or read())
        if not options.mpi_specs:
            provide(tell)
    runs = []
    for setup in set_up(request, options, TERMINAL, enough=BENCHMARKS):
        plan = quick(setup.request, setup.cards, setup.resources, setup.mpi)
        runs.append(PlannedRun(setup, plan))
    check(runs, options)
    if options.dry_run:
        print_seats(runs[0])
        return
    if options.form is None:
        introduce([run.setup for run in runs])
    measured = measure(runs, options.output, "quick")
    for stored in measured.runs:
        if options.form is None:
            tell(f"stored in {stored.path}")
            present(stored, len(runs) > 1, word_of(stored))
        else:
            print_run(stored, options.form)
    measured.raise_problems()


def introduce(setups: Sequence[Setup]) -> None:
    """Prints the machine and the MPIs in one line, before anything is measured."""
    click.echo(machine_line(setups))


def machine_line(setups: Sequence[Setup]) -> str:
    """The machine and the MPIs, with as much of the name of the CPU as a line has room for."""
    from mpigauge.model.units import dotted, listed, many
    from mpigauge.model.width import WIDTH, shortened

    machine = setups[0].machine
    words = dotted(
        machine.hostname,
        listed(setup.mpi.label for setup in setups),
        many(machine.cores, "core"),
        many(machine.packages, "socket") if machine.packages > 1 else "",
        many(machine.numa_nodes, "NUMA node") if machine.numa_nodes > 1 else "",
        "virtual machine" if machine.hypervisor else "",
    )
    room = WIDTH - len(dotted(words, " "))
    (cpu,) = shortened([machine.cpu_model], room) if room > LEAST_CPU else ("",)
    return dotted(words, cpu)


def present(stored: Run, named: bool = False, word: str = "") -> None:
    """Prints a run on one screen, the answer last: all benchmarks in one table, those of the
    machine itself as limits, the headline, the fitness of the machine for measuring, the count of
    the remarks, and the next command. `named`: below the name of the MPI, as there are others;
    `word`: the run in these commands."""
    from dataclasses import replace

    from mpigauge.cli.screen import screen, write
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
    from mpigauge.cli.screen import screen
    from mpigauge.measuring.live.console import console_of
    from mpigauge.measuring.live.matrix import matrix

    here = screen()
    console = console_of(here)
    with console.capture() as captured:
        console.print(matrix(rows, precision, here.room, unicode=here.unicode))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    if any(row.is_range for row in rows):
        lines.append(RANGES)
    return lines
