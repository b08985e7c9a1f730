# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge version: prints the version."""

from __future__ import annotations

import click

from mpigauge.cli.helping import Command


@click.command("version", cls=Command)
def command() -> None:
    """Print the version."""
    import mpigauge

    click.echo(f"mpigauge {mpigauge.__version__}")
