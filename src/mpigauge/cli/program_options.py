# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The options of commands that launch a program of the user."""

from __future__ import annotations

from mpigauge.cli import options
from mpigauge.cli.helping import RANKS, option

PROGRAM_OPTIONS = (
    option(
        "--np",
        metavar="N",
        help="Launch the program on N ranks.  [default: as many as --hosts have slots or --ppn]",
        heading=RANKS,
        brief="Ranks of the program.",
    ),
    options.mpi_option,
    options.one_place_option,
    *options.all_shared("transport tuned set env hosts hostfile ppn launcher rsh oversubscribe"),
)
NAMES = (
    *("mpi_spec", "np", "place", "transport", "settings", "env", "hosts", "hostfile", "ppn"),
    *("launcher", "oversubscribe"),
)
"""The options that make mpigauge the launcher; not --rsh, which also serves to reach other
hosts."""
