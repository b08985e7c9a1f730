# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge bundle: one archive for nodes that have no network."""

from __future__ import annotations

from pathlib import Path

import click

from mpigauge.cli.helping import Command
from mpigauge.cli.output import tell
from mpigauge.cli.paths import OutputFile
from mpigauge.model.extras import EXTRAS


@click.command("bundle", cls=Command)
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    default=Path("mpigauge.tar"),
    metavar="FILE",
    help="The archive: .tar, .tar.gz or .tar.xz by its ending.  [default: mpigauge.tar]",
)
@click.option(
    "--mpi",
    "mpis",
    multiple=True,
    metavar="MPI",
    help="Kernels for this MPI only; may be repeated.  [default: those that came with mpigauge, "
    "else for all that `mpigauge mpi list` shows]",
)
@click.option(
    "--with-mpi",
    "packed",
    multiple=True,
    metavar="MPI",
    help="Pack this MPI, too, for nodes that have none: mpich, openmpi or intel, installed by "
    "`mpigauge mpi install`; may be repeated.",
)
@click.option(
    "--extra",
    "extras",
    multiple=True,
    type=click.Choice(list(EXTRAS)),
    help="Pack what this extra of mpigauge brings; may be repeated.",
)
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
def command(
    output: Path,
    mpis: tuple[str, ...],
    packed: tuple[str, ...],
    extras: tuple[str, ...],
    force: bool,
) -> None:
    """Pack mpigauge with all that it needs into one archive, for nodes without a network.

    It runs where it is unpacked, with a Python of the version that made it; the programs in its
    folder imb, which take the place of IMB's, need no Python. Nothing is installed.
    """
    from mpigauge.products.bundle.making import PackRequest, make
    from mpigauge.products.bundle.show import lines

    bundle = make(PackRequest(output, force, mpis, packed, extras), tell)
    click.echo("\n".join(lines(bundle)))
