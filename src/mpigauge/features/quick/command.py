# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge quick: the whole picture of a machine in less than a minute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Command
from mpigauge.cli.options import transport_option

RANGES = "…: the range of fewer than six launches, which is no interval."
"""The explanation of the sign in front of a range."""

if TYPE_CHECKING:
    from mpigauge.model.row import Row
    from mpigauge.runs.store import Run
    from mpigauge.session.targets import Setup


@click.command("quick", cls=Command)
@options.together(
    options.mpis_option,
    transport_option,
    options.seconds_option,
    options.launches_option,
    options.precision_option,
    options.set_option,
    options.env_option,
    options.place_option,
    options.placement_option,
    *options.host_options,
    options.oversubscribe_option,
    options.dry_run_option,
    options.topology_option,
    options.seed_option,
    options.timeout_option,
    options.format_option(default=None),
    options.output_option,
    options.history_option,
)
def command(**values: Any) -> None:
    """Measure this machine in less than a minute.

    Messages between two cores, a few collectives on all cores, and what the machine could do at
    most: each with its error, and in one sentence how good the machine is for measuring. It ends
    as soon as all of it is precise. Where there is no MPI at all, MPICH is fetched first.
    """
    from mpigauge.cli.placing import print_seats
    from mpigauge.cli.screen import tell
    from mpigauge.cli.showing import print_run
    from mpigauge.cli.terminal import TERMINAL
    from mpigauge.features.quick.plan import BENCHMARKS, check_cores, quick
    from mpigauge.measuring.plan import read_request
    from mpigauge.session.lookups import look_up
    from mpigauge.session.measuring import PlannedRun, check, measure
    from mpigauge.session.setup import set_up, target_of
    from mpigauge.session.targets import CommandOptions
    from mpigauge.site.mpi.provide import provide
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
            present(stored, named=len(runs) > 1)
        else:
            print_run(stored, options.form)
    measured.raise_problems()


def introduce(setups: Sequence[Setup]) -> None:
    """Prints the machine, its remarks, and the MPI."""
    from mpigauge.cli.screen import write_lines
    from mpigauge.model.width import broken
    from mpigauge.site.topology import remarks

    click.echo(machine_line(setups[0]))
    for setup in setups:
        write_lines(broken([f"{setup.mpi.label}, {setup.mpi.found}"]))
    for sentence in remarks(setups[0].machine):
        write_lines(wrapped(sentence, "- "))
    click.echo()


def machine_line(setup: Setup) -> str:
    from mpigauge.model.units import many

    machine = setup.machine
    words = [
        machine.hostname,
        machine.cpu_model,
        many(machine.cores, "core"),
        many(machine.packages, "socket"),
        many(machine.numa_nodes, "NUMA node") if machine.numa else "",
        "virtual machine" if machine.hypervisor else "",
    ]
    return " · ".join(filter(None, words))


def present(stored: Run, named: bool = False) -> None:
    """The headline, how good the machine is for measuring, all benchmarks in one table, those of
    the machine itself as limits, what is suspicious, and what to do next. `named`: below the name
    of the MPI, as there are others."""
    from mpigauge.cli.screen import screen, write
    from mpigauge.features.quick import show as first
    from mpigauge.features.quick.fitness import fitness
    from mpigauge.features.quick.result import machine_errors, remarks
    from mpigauge.model.cards import NODE_SUITE
    from mpigauge.model.width import as_blocks
    from mpigauge.result.document import document
    from mpigauge.runs.store.writer import word_for
    from mpigauge.session.limiting import with_limits
    from mpigauge.show.formats import table

    precision = stored.plan.get("precision") or 0.0
    shown = with_limits(document(stored, precision), stored)
    messages = [row for row in shown.rows if row.cell.suite != NODE_SUITE]
    fit = fitness(shown.rows, stored.noise, shown.facts.sampled, precision)
    if named:
        click.echo(f"--- {shown.facts.mpi}")
    colour, run = screen().coloured, word_for(stored.path)
    measured = table.measured_lines(shown.headline, colour) if shown.headline else []
    at_other_times = first.at_other_times(machine_errors(messages))
    blocks = [
        measured,
        [*wrapped(first.sentence(fit, precision)), *wrapped(at_other_times)],
        picture(messages, precision),
        first.limit_lines(shown.limits) if shown.limits else [],
        [line for remark in remarks(shown, stored.noise, run) for line in wrapped(remark, "- ")],
        first.next_steps(shown, fit.grade, run),
    ]
    write(as_blocks(blocks) + "\n")
    click.echo(f"Stored in {stored.path}")


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
        lines += wrapped(RANGES)
    return lines


def wrapped(sentence: str, mark: str = "") -> list[str]:
    from mpigauge.model.width import WIDTH, wrap

    return wrap(sentence, WIDTH, initial_indent=mark, subsequent_indent=" " * len(mark))
