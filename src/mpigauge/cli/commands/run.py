# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge run: measures benchmarks by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mpigauge.cli import options
from mpigauge.cli.run_options import RUN_OPTIONS


@click.command("run")
@click.argument("benchmarks", nargs=-1, required=True, metavar="BENCHMARK...")
@options.together(*RUN_OPTIONS, options.format_option())
def command(
    form: str,
    output: Path | None,
    mpi_specs: tuple[str, ...],
    transport: str | None,
    map_: str | None,
    dry_run: bool,
    topology: Path | None,
    **raw: Any,
) -> None:
    """Measure benchmarks (`mpigauge list` shows them).

    Every number comes with its error: the 95 % interval of the median over launches.
    """
    from mpigauge.cli.beside import Order, measure_all, planned, print_beside
    from mpigauge.cli.measuring import printer
    from mpigauge.cli.placing import print_seats
    from mpigauge.plan import read_request, resolve

    request = read_request(raw | {"map": map_})
    order = Order(mpi_specs, transport, output, form, dry_run, topology)
    found = planned(request, order, lambda r, s: resolve(r, s.cards, s.ground, s.mpi))
    if dry_run:
        print_seats(found[0].plan, found[0].setup.ground)
        return
    label = "-".join(found[0].plan.benchmarks)
    measure_all(found, output, label, printer(form), print_beside)
