# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge quick: the whole picture of a machine in less than a minute."""

from __future__ import annotations

from typing import Any

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Command


@click.command("quick", cls=Command)
@options.together(
    *options.all_shared("mpi transport"),
    options.shared("time", help="Time for everything, such as 30s or 2m.  [default: up to 40s]"),
    *options.all_shared(
        "launches precision set env place bind-by hosts hostfile ppn launcher rsh oversubscribe "
        "dry-run topology seed timeout"
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
    from mpigauge.products.quick.measuring import measure_machine

    measure_machine(**values)
