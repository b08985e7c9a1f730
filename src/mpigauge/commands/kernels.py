# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge mpi build: builds the kernels before they are needed, for a user or for a site.

`kernels build` is its name in older versions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Group
from mpigauge.cli.output import tell
from mpigauge.cli.paths import OutputFolder
from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mpigauge.model.mpi import Mpi


@click.group("kernels", cls=Group)
def command() -> None:
    """Build the measuring programs before their first use."""


@command.command("build")
@click.option(
    "--into",
    "folder",
    type=OutputFolder(),
    metavar="DIR",
    help="For all users who set MPIGAUGE_KERNELS to DIR, which they need not be able to write.  "
    "[default: your cache]",
)
@options.shared("mpi")
def build_command(folder: Path | None, mpi_specs: tuple[str, ...]) -> None:
    """Build the kernels for all MPIs that are here, or for those that --mpi names.

    MPIs of one ABI share kernels. Different machines and versions of mpigauge may share DIR: each
    build names its machine and sources, and each mpigauge uses only its own. The compiler is that
    of CXX and CXXFLAGS, else the first of g++, c++, clang++.
    """
    from mpigauge.site.mpi.make import built
    from mpigauge.site.mpi.make.into import build_into

    chosen = [*_one_of_each_abi(_mpis(mpi_specs))]
    for mpi in chosen:
        made = build_into(folder, mpi, tell) if folder else built(mpi, tell)
        click.echo(f"{mpi.abi} ({mpi.label}): {made.cards.parent}")
    if folder:
        click.echo(f"export MPIGAUGE_KERNELS={folder.absolute()}")


def _mpis(specs: Sequence[str]) -> Sequence[Mpi]:
    """UserError: it does not exist."""
    from mpigauge.site.mpi import find
    from mpigauge.site.mpi.find import WHAT_TO_DO
    from mpigauge.site.mpi.listing import everything

    if specs:
        return [find(spec) for spec in specs]
    mpis = [each.mpi for each in everything().listed]
    if not mpis:
        raise UserError(f"there is no MPI to build kernels for; {WHAT_TO_DO}")
    return mpis


def _one_of_each_abi(mpis: Sequence[Mpi]) -> Iterator[Mpi]:
    seen = set()
    for mpi in mpis:
        if mpi.abi not in seen:
            seen.add(mpi.abi)
            yield mpi
