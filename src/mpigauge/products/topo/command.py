# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge topo: how a machine is built, and what of it may be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Command
from mpigauge.cli.paths import OutputFile
from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from mpigauge.model.topology import Topology
    from mpigauge.session.targets import Target


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
    from mpigauge.cli.placing import to_ask
    from mpigauge.cli.screen import write_lines
    from mpigauge.cli.text_tables import screen_width
    from mpigauge.show.machine import page
    from mpigauge.site.topology import as_json as to_json
    from mpigauge.site.topology import built

    _refuse_other_pictures(target, as_json)
    if asked := to_ask(where, {"--from": file, "-o": target}):
        _show_hosts(asked, as_json)
        return
    topology = built(file)
    if target is not None:
        _draw(topology, target)
        return
    if as_json:
        click.echo(json.dumps(to_json(topology), indent=2))
        return
    write_lines(page(topology, screen_width() or 96))


def _refuse_other_pictures(target: Path | None, as_json: bool) -> None:
    if target is not None and as_json:
        raise UserError("-o and --json contradict: one draws, the other prints; give one of them")
    if target is not None:
        from mpigauge.draw.write import check_picture

        check_picture(target, "-o")


def _draw(topology: Topology, target: Path) -> None:
    from mpigauge.draw.write import draw
    from mpigauge.show.picture import picture

    draw(picture(topology), target)
    click.echo(f"mpigauge: drawn in {target}", err=True)


def _show_hosts(asked: Target, as_json: bool) -> None:
    from mpigauge.cli.screen import write_lines
    from mpigauge.cli.text_tables import screen_width
    from mpigauge.measuring.campaign.probe import machines
    from mpigauge.products.topo.alike import pages
    from mpigauge.session.setup import agent_of
    from mpigauge.site.topology import as_json as to_json

    nodes = machines(asked.hosts, agent_of(asked))
    if as_json:
        click.echo(json.dumps({node.name: to_json(node.machine) for node in nodes}, indent=2))
        return
    write_lines(pages(nodes, screen_width() or 96))
