# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge topo: how a machine is built, and what of it may be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from mpigauge.model.topology import Topology


@click.command("topo")
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A machine that hwloc has written as XML (`lstopo --of xml FILE`).  [default: this one]",
)
@click.option("--json", "as_json", is_flag=True, help="Print all that is known as JSON.")
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.svg",
    help="Draw a picture instead.",
)
def command(file: Path | None, as_json: bool, target: Path | None) -> None:
    """Show sockets, NUMA nodes, caches, cores, network cards and GPUs.

    What this process may not use stands in brackets, in the picture in grey.
    """
    from mpigauge.cli.tables import screen_width
    from mpigauge.report.machine import page
    from mpigauge.topology import as_json as to_json
    from mpigauge.topology import built

    _refuse_other_pictures(target)
    topology = built(file)
    if target is not None:
        _draw(topology, target)
        return
    if as_json:
        click.echo(json.dumps(to_json(topology), indent=2))
        return
    for line in page(topology, screen_width() or 96):
        click.echo(line)


def _refuse_other_pictures(target: Path | None) -> None:
    if target is not None and target.suffix != ".svg":
        raise UserError(
            f"cannot write a picture to {target}: its name has to end with .svg "
            "(`rsvg-convert` or a browser makes a PNG of it)"
        )


def _draw(topology: Topology, target: Path) -> None:
    from mpigauge.report.picture import picture

    try:
        target.write_text(picture(topology), encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {target}: {error.strerror}") from None
    click.echo(f"mpigauge: drawn in {target}", err=True)
