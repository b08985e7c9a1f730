# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""What commands share of where to measure or to look, and of --dry-run: who would sit where."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mpigauge.cli.measuring import Wanted
    from mpigauge.measure.plan import Ground, Plan, Request


def wanted(request: Request, output: Path | None, file: Path | None, dry_run: bool) -> Wanted:
    """The hosts that somebody named, else those of the batch job, or machines as in the file."""
    from mpigauge.cli.measuring import Wanted
    from mpigauge.site import batch
    from mpigauge.site.topology import built

    if file is not None and not dry_run:
        raise UserError("--topology is for --dry-run: nothing can be measured on a file")
    given = batch.here(os.environ)
    batch.check_inside(given, (host.name for host in request.hosts))
    hosts = request.hosts or batch.hosts(given)
    topology = None if file is None else built(file)
    return Wanted(hosts, request.ppn, request.rsh, output, topology, given, request.launcher)


def to_ask(where: Mapping[str, Any], one_machine: Mapping[str, object]) -> Wanted | None:
    """The hosts that `options.hosts_to_ask` name, to look at and not to measure; where they name
    none, those of the batch job, if there are several. None: this machine alone, as with each of
    the options that are for one machine. UserError: such an option stands beside hosts."""
    from mpigauge.cli.lookups import look_up
    from mpigauge.measure.plan import read_request

    for_one = [option for option, given in one_machine.items() if given is not None]
    named = bool(where["hosts"] or where["hostfile"])
    if for_one and (named or where["rsh"]):
        raise UserError(f"{for_one[0]} is for one machine; leave it or the hosts out")
    asked = None if for_one else wanted(read_request(where, look_up(where)), None, None, False)
    if asked and (named or len(asked.hosts) > 1):
        return asked
    if where["rsh"]:
        raise UserError("--rsh is for hosts; name them with --hosts or --hostfile")
    return None


def print_seats(plan: Plan, ground: Ground) -> None:
    from mpigauge.cli.seats import seat_lines

    for number, part in enumerate(plan.parts):
        for line in ([""] if number else []) + seat_lines(part, ground):
            click.echo(line)
