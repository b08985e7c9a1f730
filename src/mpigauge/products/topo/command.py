# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge topo: how a machine is built, and what of it may be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Command
from mpigauge.cli.paths import OutputFile


@click.command("topo", cls=Command)
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A machine that hwloc has written as XML (`lstopo --of xml FILE`).  [default: this one]",
)
@options.json_option
@click.option(
    "-o",
    "--output",
    "target",
    type=OutputFile(),
    metavar="FILE",
    help="Draw a picture instead: FILE.svg, FILE.png or FILE.pdf.",
)
@options.together(*options.hosts_to_ask)
def command(file: Path | None, as_json: bool, target: Path | None, **where: Any) -> None:
    """Show sockets, NUMA nodes, caches, cores, network cards and GPUs.

    Forbidden cores are in brackets, in the picture in grey. Identical hosts are shown once, and
    differences are named.
    """
    from mpigauge.products.topo.present import print_topology

    print_topology(file=file, as_json=as_json, target=target, **where)
