# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The measurement of a machine in less than a minute: plan, launches, and what is printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.output import tell
from mpigauge.cli.output.showing import print_run, word_of
from mpigauge.cli.output.terminal import TERMINAL
from mpigauge.cli.runs.placing import print_seats
from mpigauge.measuring.plan import read_request
from mpigauge.model.units import dotted, listed, many
from mpigauge.model.width import WIDTH, shortened
from mpigauge.products.quick.plan import BENCHMARKS, check_cores, quick
from mpigauge.products.quick.provide import provide
from mpigauge.session.lookups import look_up
from mpigauge.session.measuring import PlannedRun, check, measure
from mpigauge.session.setup import set_up, target_of
from mpigauge.session.targets import CommandOptions
from mpigauge.site.topology import read

if TYPE_CHECKING:
    from mpigauge.session.targets import Setup


LEAST_CPU = 8
"""Columns that the name of a CPU needs at least."""


def measure_machine(**values: Any) -> None:
    """Measures this machine, and prints the result. `values` are options of the command line."""
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
    from mpigauge.products.quick.present import present

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
