# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge doctor: diagnoses what distorts timings on this machine, and how to mend it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mpigauge.cli import options
from mpigauge.cli.helping import Command
from mpigauge.model.limits import MOST_NOISE_S


@click.command("doctor", cls=Command)
@click.argument("names", nargs=-1, metavar="[CHECK]...")
@click.option(
    "--noise",
    "seconds",
    type=options.Seconds(0, MOST_NOISE_S),
    default=1.0,
    metavar="SECONDS",
    help="Time during which all cores are watched for other work; 0: none.  [default: 1]",
)
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A machine that tools/record_machine.py has recorded.  [default: this one]",
)
@click.option(
    "--binary",
    "program",
    metavar="PROGRAM",
    help="Look at a program instead: which MPI it was made for, what it would load here, and which "
    "of the MPIs that are here can run it.",
)
@options.together(*options.hosts_to_ask)
@options.mpi_option
@options.json_option
@options.list_option("List the checks and run none.")
def command(
    names: tuple[str, ...],
    seconds: float,
    file: Path | None,
    program: str | None,
    mpi_spec: str | None,
    as_json: bool,
    only_list: bool,
    **where: Any,
) -> int:
    """Diagnose what distorts timings on this machine and how to fix it.

    The worst comes first: BAD distorts timings, a note costs something or may, ? cannot be read
    here. With --hosts all hosts are checked in parallel. Exit status 1 if something is BAD, or if
    nothing here can run the --binary, else 0.
    """
    from mpigauge.products.doctor.diagnosing import print_diagnosis

    return print_diagnosis(
        names=names,
        seconds=seconds,
        file=file,
        program=program,
        mpi_spec=mpi_spec,
        as_json=as_json,
        only_list=only_list,
        **where,
    )
