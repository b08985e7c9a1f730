# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge topo: how a machine is built, and what of it may be used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    metavar="FILE",
    help="Draw a picture instead: FILE.svg, FILE.png or FILE.pdf.",
)
@click.option("--hosts", metavar="LIST", help="These hosts, such as a,b[01-04].")
@click.option(
    "--hostfile",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The same, a line each: a, a:2 or a slots=2.",
)
@click.option(
    "--rsh",
    metavar="WORDS",
    help="What starts programs on other hosts, such as 'ssh -p 50000'.  [default: ssh]",
)
def command(file: Path | None, as_json: bool, target: Path | None, **where: Any) -> None:
    """Show sockets, NUMA nodes, caches, cores, network cards and GPUs.

    What this process may not use stands in brackets, in the picture in grey. Of several hosts,
    those that are alike are shown once, and what is different is named.
    """
    from mpigauge.cli.tables import screen_width
    from mpigauge.report.machine import page
    from mpigauge.topology import as_json as to_json
    from mpigauge.topology import built

    _refuse_other_pictures(target, as_json)
    if where["hosts"] or where["hostfile"]:
        _refuse_one_machine(file, target)
        _show_hosts(where, as_json)
        return
    if where["rsh"]:
        raise UserError("--rsh is for hosts; name them with --hosts or --hostfile")
    topology = built(file)
    if target is not None:
        _draw(topology, target)
        return
    if as_json:
        click.echo(json.dumps(to_json(topology), indent=2))
        return
    for line in page(topology, screen_width() or 96):
        click.echo(line)


def _refuse_other_pictures(target: Path | None, as_json: bool) -> None:
    if target is not None and as_json:
        raise UserError("-o and --json contradict: one draws, the other prints; give one of them")
    if target is not None:
        from mpigauge.report.draw import check_picture

        check_picture(target, "-o")


def _draw(topology: Topology, target: Path) -> None:
    from mpigauge.report.draw import draw
    from mpigauge.report.picture import picture

    draw(picture(topology), target)
    click.echo(f"mpigauge: drawn in {target}", err=True)


def _refuse_one_machine(file: Path | None, target: Path | None) -> None:
    for option, given in (("--from", file), ("-o", target)):
        if given is not None:
            raise UserError(f"{option} is for one machine; leave it or the hosts out")


def _show_hosts(where: Mapping[str, Any], as_json: bool) -> None:
    from mpigauge.campaign.probe import machines
    from mpigauge.cli.measuring import agent_of
    from mpigauge.cli.placing import wanted
    from mpigauge.cli.tables import screen_width
    from mpigauge.plan import read_request
    from mpigauge.report.alike import pages
    from mpigauge.topology import as_json as to_json

    asked = wanted(read_request(where), None, None, False)
    nodes = machines(asked.hosts, agent_of(asked))
    if as_json:
        click.echo(json.dumps({node.name: to_json(node.machine) for node in nodes}, indent=2))
        return
    for line in pages(nodes, screen_width() or 96):
        click.echo(line)
