# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge run: measures benchmarks by name."""

from __future__ import annotations

from typing import Any

import click

from mpigauge.cli import completing, options
from mpigauge.cli.habits import HabitualCommand
from mpigauge.cli.run_options import RUN_OPTIONS


@click.command("run", cls=HabitualCommand)
@click.argument(
    "benchmarks",
    nargs=-1,
    required=True,
    metavar="BENCHMARK...",
    shell_complete=completing.benchmarks,
)
@options.together(*RUN_OPTIONS, options.format_option())
def command(**values: Any) -> None:
    """Measure benchmarks (`mpigauge benchmarks` lists them).

    Every number comes with its error: the 95 % interval of the median over launches.
    """
    from mpigauge.cli.output.showing import print_run
    from mpigauge.cli.output.terminal import TERMINAL
    from mpigauge.session.measuring import measure, plan_benchmarks
    from mpigauge.session.targets import CommandOptions

    options = CommandOptions.taken(values)
    runs = plan_benchmarks(values, options, TERMINAL)
    if options.dry_run:
        from mpigauge.cli.runs.placing import print_seats

        print_seats(runs[0])
        return
    measured = measure(runs, options.output, "-".join(runs[0].plan.benchmarks))
    if len(measured.runs) > 1:
        from mpigauge.cli.runs.side_by_side import print_beside

        print_beside(measured.runs)
    else:
        for stored in measured.runs:
            print_run(stored, options.form or "table")
    measured.raise_problems()
