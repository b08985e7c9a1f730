# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge quick: the whole picture of a machine in about a minute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import options
from mpigauge.cli.transport import transport_option

if TYPE_CHECKING:
    from mpigauge.cli.measuring import Setup
    from mpigauge.report import Document
    from mpigauge.store import Run


@click.command("quick")
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
)
def command(**said: Any) -> None:
    """Measure this machine in about a minute.

    Messages between two cores, collectives on all cores, and the few numbers that people quote,
    each with its error.
    """
    from mpigauge.cli.beside import Order, measure_all, on_ground, planned
    from mpigauge.cli.measuring import printer
    from mpigauge.cli.placing import print_seats
    from mpigauge.plan import read_request
    from mpigauge.plan.quick import check_cores, quick
    from mpigauge.topology import read

    order = Order.taken(said)
    request = read_request(said)
    where = order.where(request)
    if not where.hosts:
        check_cores(request, where.topology or read())
    found = planned(request, order, on_ground(quick))
    if order.dry_run:
        print_seats(found[0].plan, found[0].setup.ground)
        return
    if order.form is None:
        introduce([job.setup for job in found])
    shown = present if len(found) == 1 else present_named
    measure_all(found, order.output, "quick", printer(order.form) if order.form else shown)


def introduce(setups: Sequence[Setup]) -> None:
    """What the machine is, what may spoil times on it, and which MPI."""
    from mpigauge.topology import remarks

    click.echo(machine_line(setups[0]))
    for setup in setups:
        click.echo(f"{setup.mpi.label}, {setup.mpi.found}")
    for sentence in remarks(setups[0].machine):
        click.echo(_wrapped(sentence))
    click.echo()


def machine_line(setup: Setup) -> str:
    from mpigauge.model.units import many

    machine = setup.machine
    words = [
        machine.hostname,
        machine.cpu_model,
        many(machine.cores, "core"),
        many(machine.packages, "socket"),
        many(machine.numa_nodes, "NUMA node"),
        "virtual machine" if machine.hypervisor else "",
    ]
    return " · ".join(filter(None, words))


def present(stored: Run) -> None:
    """All benchmarks on one screen, the headline, what is suspicious, and where the rest is."""
    from mpigauge.cli.limiting import with_limits
    from mpigauge.report import document

    found = with_limits(document(stored, stored.plan.get("precision")), stored)
    _print_picture(found, stored.plan.get("precision") or 0.0)
    _print_blocks(found)
    click.echo(f"Stored in {stored.path}")
    click.echo(f"All tables:  mpigauge show {stored.path}")


def present_named(stored: Run) -> None:
    """The same where there is one for each of several MPIs."""
    from mpigauge.report import document

    click.echo(f"--- {document(stored).facts.mpi}")
    present(stored)


def _print_picture(found: Document, precision: float) -> None:
    from mpigauge.cli.screen import screen
    from mpigauge.tui.console import console_of
    from mpigauge.tui.matrix import matrix

    here = screen()
    console = console_of(here)
    console.print(matrix(found.rows, precision, here.room, unicode=here.unicode))
    click.echo()


def _print_blocks(found: Document) -> None:
    from mpigauge.cli.screen import screen, write
    from mpigauge.report.formats import table

    colour = screen().coloured
    headline = table.headline_lines(found.headline, colour) if found.headline else []
    limits = table.limits_lines(found, colour)
    for block in (headline, limits, [_wrapped(sentence) for sentence in in_short(found)]):
        if block:
            write("\n".join([*block, "", ""]))


def in_short(found: Document) -> list[str]:
    """What is suspicious: flags with how many cells they concern; which ones, `show` tells."""
    from mpigauge.stats.words import MEANING, sentences

    about_rows = sentences(found.rows)
    wrong = about_rows[: any(row.wrong_count for row in found.rows)]
    flagged = Counter(flag for row in found.rows for flag in row.flags)
    flags = [
        f"{flag}, {count} of {len(found.rows)} cells: {MEANING.get(flag, 'unknown flag')}."
        for flag, count in flagged.most_common()
    ]
    return [*wrong, *(each for each in found.sentences if each not in about_rows), *flags]


def _wrapped(sentence: str) -> str:
    from textwrap import fill

    from mpigauge.model.width import WIDTH

    return fill(sentence, WIDTH, initial_indent="- ", subsequent_indent="  ")
