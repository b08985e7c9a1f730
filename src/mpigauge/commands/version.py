# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge version: prints the version."""

from __future__ import annotations

import click


@click.command("version")
def command() -> None:
    """Print the version."""
    import mpigauge

    click.echo(f"mpigauge {mpigauge.__version__}")
