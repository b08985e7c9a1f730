# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge ref: published numbers of known systems, to compare with."""

from __future__ import annotations

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Group

COLUMNS = {"name": "name", "date": "date", "system": "system", "about": "what is known"}
"""Names and heads."""


@click.group("ref", cls=Group)
def command() -> None:
    """Published numbers of known systems. ref:NAME may replace a run everywhere."""


@command.command("list")
@options.json_option
def list_command(as_json: bool) -> None:
    """List the systems."""
    from mpigauge.cli.output.text_tables import print_rows
    from mpigauge.runs.readers.references import names, reference

    systems = [reference(name) for name in names()]
    rows = [[f"ref:{each.name}", each.date or "-", each.system, each.about] for each in systems]
    print_rows(COLUMNS, rows, as_json)


@command.command("show")
@click.argument("name", shell_complete=completing.references)
@options.format_option()
def show_command(name: str, form: str) -> None:
    """Print the numbers of one system, as `mpigauge show ref:NAME` does."""
    from mpigauge.cli.output.showing import show
    from mpigauge.runs.store.imported import REFERENCE, load_reference

    show(load_reference(name.removeprefix(REFERENCE)), form)
