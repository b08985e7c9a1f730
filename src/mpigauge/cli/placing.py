# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What run and quick share of where to measure, and of --dry-run: who would sit where."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from mpigauge.cli.measuring import Wanted
    from mpigauge.plan import Ground, Plan, Request


def wanted(request: Request, output: Path | None, file: Path | None, dry_run: bool) -> Wanted:
    """The hosts that somebody named, else those of the batch job, or machines as in the file."""
    from mpigauge import batch
    from mpigauge.cli.measuring import Wanted
    from mpigauge.topology import built

    if file is not None and not dry_run:
        raise UserError("--topology is for --dry-run: nothing can be measured on a file")
    given = batch.here(os.environ)
    batch.check_inside(given, (host.name for host in request.hosts))
    hosts = request.hosts or batch.hosts(given)
    topology = None if file is None else built(file)
    return Wanted(hosts, request.ppn, request.rsh, output, topology, given, request.launcher)


def print_seats(plan: Plan, ground: Ground) -> None:
    from mpigauge.report.seats import seat_lines

    for number, part in enumerate(plan.parts):
        for line in ([""] if number else []) + seat_lines(part, ground):
            click.echo(line)
