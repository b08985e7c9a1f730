# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge sweep: the same benchmarks under many settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import MPI, option
from mpigauge.cli.run_options import RUN_OPTIONS
from mpigauge.products.sweep.plan_file import PlanCommand


@click.command("sweep", cls=PlanCommand)
@click.argument(
    "benchmarks",
    nargs=-1,
    metavar="[PLAN.toml] [BENCHMARK]...",
    shell_complete=completing.benchmarks,
)
@options.together(
    option(
        "--vary",
        multiple=True,
        metavar="NAME=A,B",
        help="Values of a setting of the MPI, of `transport`, or of any variable as env:NAME; "
        "every combination with those of other names is measured. Values that hold commas have "
        "bars between them: a,b|c.",
        heading=MPI,
        brief="Values to measure: NAME=4096,16384, transport=shm,tcp …",
    ),
    option(
        "--control/--no-control",
        default=True,
        help="Measure the default twice: what differs between the two is chance.  "
        "[default: control]",
    ),
    option(
        "--fail-fast/--keep-going",
        default=False,
        help="End the sweep at the first launch that fails, or go on.  [default: keep going]",
    ),
    option(
        "--relaunch",
        is_flag=True,
        help="Give each setting launches of its own, though it could be changed while MPI runs.",
    ),
    option("--vary-block", "vary_blocks", multiple=True, hidden=True),
    option("--command-block", "command_blocks", multiple=True, hidden=True),
    *RUN_OPTIONS,
    option("--pivot", is_flag=True, help="Show the result as one table of sizes × settings."),
    options.format_option(),
)
def command(**values: Any) -> None:
    """Measure benchmarks under many settings, transports and placements.

    Each setting is launched once a round, each round in another order, beside the default and, for
    control, the default once more. PLAN.toml has these options as keys, and blocks [[vary]].
    """
    from mpigauge.products.sweep.sweeping import planned_sweeps, present_all, print_plan
    from mpigauge.session.measuring import measure
    from mpigauge.session.targets import CommandOptions

    options = CommandOptions.taken(values)
    runs = planned_sweeps(values, options)
    if options.dry_run:
        for run in runs:
            print_plan(run)
        return
    measured = measure(runs, options.output, "sweep")
    present_all(measured.runs, options.form or "table", options.pivot)
    measured.raise_problems()


def check_options(values: Mapping[str, Any]) -> None:
    """UserError: what is to be varied cannot be read."""
    from mpigauge.products.sweep.sweeping import read_sweep

    read_sweep(dict(values), dry_run=True, several=len(values["mpi_specs"]) > 1)
