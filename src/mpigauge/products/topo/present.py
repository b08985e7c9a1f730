# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The machine as tables, as JSON, or as a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mpigauge.cli.output import write_lines
from mpigauge.cli.output.text_tables import screen_width
from mpigauge.cli.runs.placing import to_ask
from mpigauge.model.errors import UserError
from mpigauge.session.setup import agent_of
from mpigauge.show.topology.machine import page
from mpigauge.site.topology import as_json as to_json
from mpigauge.site.topology import built

if TYPE_CHECKING:
    from mpigauge.model.topology import Topology
    from mpigauge.session.targets import Target


def print_topology(file: Path | None, as_json: bool, target: Path | None, **where: Any) -> None:
    """Prints or draws the topology of this machine, a file or hosts. UserError: options differ."""
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
    from mpigauge.show.topology.picture import picture

    draw(picture(topology), target)
    click.echo(f"mpigauge: drawn in {target}", err=True)


def _show_hosts(asked: Target, as_json: bool) -> None:
    from mpigauge.measuring.trials.probe import machines
    from mpigauge.products.topo.alike import pages

    nodes = machines(asked.hosts, agent_of(asked))
    if as_json:
        click.echo(json.dumps({node.name: to_json(node.machine) for node in nodes}, indent=2))
        return
    write_lines(pages(nodes, screen_width() or 96))
