# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge imb: programs that take the place of IMB's, to be started by mpirun without Python."""

from __future__ import annotations

from pathlib import Path

import click

from mpigauge.cli.helping import Group
from mpigauge.cli.output import tell
from mpigauge.cli.paths import OutputFolder


@click.group("imb", cls=Group)
def command() -> None:
    """Put programs called IMB-MPI1, IMB-NBC ... into a folder, to use in place of IMB's."""


@command.command("install")
@click.argument("folder", type=OutputFolder(), metavar="DIR")
@click.option(
    "--mpi",
    "specs",
    multiple=True,
    metavar="MPI",
    help="For this MPI only; may be repeated.  [default: all that `mpigauge mpi list` shows]",
)
@click.option("--force", is_flag=True, help="Replace files that mpigauge did not put there.")
def install_command(folder: Path, specs: tuple[str, ...], force: bool) -> None:
    """Put IMB-MPI1, IMB-EXT, IMB-IO, IMB-NBC, IMB-RMA, IMB-MPI4, IMB-MT, IMB-P2P, IMB-HALO,
    IMB-MPI1-GPU and IMB-RMA-GPU into DIR.

    They need no Python, find the MPI whose mpirun starts them, and DIR can be moved.
    """
    from mpigauge.products.imb.install import install
    from mpigauge.site.mpi.make.imb_programs import PROGRAMS

    done = install(folder, specs, force, tell)
    click.echo(f"{', '.join(PROGRAMS)} in {done.folder}")
    for mpi in done.mpis:
        click.echo(f"{mpi.label}: {mpi.mpiexec} -n 2 {done.folder / 'IMB-MPI1'} PingPong")
