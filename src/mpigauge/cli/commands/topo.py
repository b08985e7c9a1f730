# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge topo: how a machine is built, and what of it may be used."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("topo")
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A machine that hwloc has written as XML (`lstopo --of xml FILE`).  [default: this one]",
)
@click.option("--json", "as_json", is_flag=True, help="Print all that is known as JSON.")
def command(file: Path | None, as_json: bool) -> None:
    """Show sockets, NUMA nodes, caches, cores, network cards and GPUs.

    What this process may not use stands in brackets.
    """
    from mpigauge.cli.tables import screen_width
    from mpigauge.report.machine import page
    from mpigauge.topology import as_json as to_json
    from mpigauge.topology import built

    topology = built(file)
    if as_json:
        click.echo(json.dumps(to_json(topology), indent=2))
        return
    for line in page(topology, screen_width() or 96):
        click.echo(line)
