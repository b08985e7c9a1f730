# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge fabric: the whole network at once, and which host, link or switch is to blame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import options
from mpigauge.cli.habits import HabitualCommand
from mpigauge.cli.helping import MESSAGES, RANKS, option
from mpigauge.cli.options import option_of
from mpigauge.model.option_table import OFFERED

if TYPE_CHECKING:
    from mpigauge.runs.store import Run


@click.command("fabric", cls=HabitualCommand)
@options.together(
    options.shared("hosts", brief="Hosts, such as n[01-64], two or more."),
    options.shared("hostfile"),
    options.shared("ppn", help="Ranks of each host.  [default: 1]"),
    option(
        "--groups",
        metavar="FILE",
        help="Hosts of each switch: Slurm's topology.conf, or lines such as 'rack1: n[01-18]'; "
        "measured: groups by the bandwidths of pairs.",
        heading=RANKS,
        brief="Hosts of each switch: topology.conf, or measured.",
    ),
    *(option_of(row) for row in OFFERED if row.name == "aggressors"),
    option(
        "--sizes",
        metavar="SIZE",
        help="Bytes of a long message.  [default: 1Mi]",
        heading=MESSAGES,
    ),
    *options.all_shared("bind-by launcher rsh"),
    options.shared("time", help="Time for everything, such as 30s or 2m.  [default: 1m]"),
    options.shared("launches", help="Launches of pairs, hot spots and victims.  [default: 1]"),
    *options.all_shared("mpi transport set env oversubscribe dry-run topology seed timeout"),
    options.format_option(default=None),
    *options.all_shared("output no-history"),
)
def command(**values: Any) -> None:
    """Measure the whole network at once (--hosts …), in a minute.

    Pairs of hosts exchange messages, all at the same time and one after the other: random pairs,
    one half with the other. Then many hosts send to one, and one to many. At last pairs, rings and
    reductions are measured beside hosts that load the network. Slow hosts, links, groups and
    routes are named with the confidence that it is not due to chance.
    """
    from mpigauge.products.fabric.measuring import measure_fabric

    measure_fabric(**values)


def present(stored: Run) -> None:
    """Prints the screen of a network that a job has measured."""
    from mpigauge.products.fabric.present import present as print_screen

    print_screen(stored)
