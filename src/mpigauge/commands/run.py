# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge run: measures benchmarks by name."""

from __future__ import annotations

from typing import Any

import click

from mpigauge.cli import options
from mpigauge.cli.run_options import RUN_OPTIONS


@click.command("run")
@click.argument("benchmarks", nargs=-1, required=True, metavar="BENCHMARK...")
@options.together(*RUN_OPTIONS, options.format_option())
def command(**said: Any) -> None:
    """Measure benchmarks (`mpigauge list` shows them).

    Every number comes with its error: the 95 % interval of the median over launches.
    """
    from mpigauge.cli.beside import Order, measure_all, on_ground, planned, print_beside
    from mpigauge.cli.lookups import look_up
    from mpigauge.cli.measuring import printer
    from mpigauge.cli.placing import print_seats
    from mpigauge.measure.plan import read_request, resolve

    order = Order.taken(said)
    found = planned(read_request(said, look_up(said)), order, on_ground(resolve))
    if order.dry_run:
        print_seats(found[0].plan, found[0].setup.ground)
        return
    label = "-".join(found[0].plan.benchmarks)
    measure_all(found, order.output, label, printer(order.form or "table"), print_beside)
