# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What run and quick share of where to measure, and of --dry-run: who would sit where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from mpigauge.cli.measuring import Wanted
    from mpigauge.plan import Ground, Plan, Request


def wanted(request: Request, output: Path | None, file: Path | None, dry_run: bool) -> Wanted:
    """The hosts, or machines as in the file, that somebody wants."""
    from mpigauge.cli.measuring import Wanted
    from mpigauge.topology import built

    if file is not None and not dry_run:
        raise UserError("--topology is for --dry-run: nothing can be measured on a file")
    topology = None if file is None else built(file)
    return Wanted(request.hosts, request.ppn, request.rsh, output, topology)


def print_seats(plan: Plan, ground: Ground) -> None:
    from mpigauge.report.seats import seat_lines

    for number, part in enumerate(plan.parts):
        for line in ([""] if number else []) + seat_lines(part, ground):
            click.echo(line)
