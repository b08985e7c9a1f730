# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge node: the machine itself, the limits of all that MPI does on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import options
from mpigauge.cli.helping import MESSAGES, RANKS, Command, option
from mpigauge.cli.options import option_of
from mpigauge.model.option_table import OFFERED

if TYPE_CHECKING:
    from mpigauge.runs.store import Run

THREADS_AND_MEMORY = ("threads", "thread-order", "memory-on")


@click.command("node", cls=Command)
@click.argument("words", metavar="[RUN | LOOP...]", nargs=-1)
@options.together(
    option(
        "--np",
        metavar="N",
        help="Ranks at most.  [default: one on each core]",
        heading=RANKS,
        brief="Ranks at most.  [default: one on each core]",
    ),
    option(
        "--sizes",
        metavar="SIZE",
        help="Bytes of each array of a rank.  [default: 128Mi]",
        heading=MESSAGES,
        brief="Bytes of each array of a rank.  [default: 128Mi]",
    ),
    *(option_of(row) for row in OFFERED if row.name in THREADS_AND_MEMORY),
    *options.all_shared(
        "place bind-by hosts hostfile ppn launcher rsh blas compiler mpi time precision "
        "launches set env dry-run seed timeout output no-history"
    ),
    options.json_option,
)
def command(
    words: tuple[str, ...],
    output: Path | None,
    mpi_specs: tuple[str, ...],
    dry_run: bool,
    as_json: bool,
    **raw: Any,
) -> None:
    """Measure this machine without MPI's calls, in about a minute.

    Memory bandwidth as the simple loop has it and tuned, on one rank and on all; latency from
    cache to memory; the peak of each set of instructions and the clock; products of matrices by a
    BLAS, or by several beside each other; and the least time of a cache line between two cores,
    beside that of a message. --threads 1..8 adds how many threads of one rank it takes, --memory-on
    all the memory of each NUMA node from each other. On several hosts (--hosts): all of them at
    once and one at a time, in one table; those slower than their peers are measured again before
    they are named. With RUN, a stored one is shown again.

    With --compiler only the simple loops (all, or those that are named, such as Triad) are
    measured, as each of several compilers makes them, or one beside ours, with a verdict on each.
    """
    from mpigauge.products.node.measuring import measure_nodes

    measure_nodes(
        words=words, output=output, mpi_specs=mpi_specs, dry_run=dry_run, as_json=as_json, **raw
    )


def present(stored: Run) -> None:
    """Prints the page of a run of nodes that a job has measured."""
    from mpigauge.products.node.present import present as print_page

    print_page(stored, as_json=False)
