# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge map: the time between every two ranks, and which of them are odd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mpigauge.cli import options
from mpigauge.cli.habits import HabitualCommand
from mpigauge.cli.helping import MESSAGES, OUTPUT, RANKS, TIME, option
from mpigauge.cli.paths import OutputFile


@click.command("map", cls=HabitualCommand)
@options.together(
    option(
        "--np",
        metavar="N",
        help="Ranks of the job.  [default: one on each core]",
        heading=RANKS,
        brief="Ranks of the job.  [default: one on each core]",
    ),
    option(
        "--pairs",
        default="all",
        metavar="WHICH",
        help="all: every two ranks, many pairs side by side; each: one pair at a time; ring: each "
        "rank with the next; or pairs such as 0-1,2-3;0-2.  [default: all]",
        heading=MESSAGES,
    ),
    option(
        "--benchmark",
        metavar="NAME",
        default="PingPong",
        help="Benchmark of two ranks: PingPong, NODE:Mailbox (cache lines without MPI) or "
        "another.  [default: PingPong]",
        heading=MESSAGES,
    ),
    option(
        "--sizes",
        metavar="LIST",
        help="Message sizes, a map for each.  [default: 8,1Mi]",
        heading=MESSAGES,
        brief="Message sizes, a map for each.  [default: 8,1Mi]",
    ),
    *options.all_shared(
        "place bind-by memory gpu cuda nccl hosts hostfile ppn launcher rsh precision time"
    ),
    option(
        "--launches",
        type=int,
        metavar="N",
        help="Starts of the MPI job.  [default: 1]",
        heading=TIME,
    ),
    *options.all_shared("mpi transport set env oversubscribe dry-run topology seed timeout"),
    option(
        "--draw",
        "drawing",
        type=OutputFile(),
        metavar="FILE",
        help="Draw the map, too: FILE.svg, FILE.png or FILE.pdf.",
        heading=OUTPUT,
    ),
    options.format_option(default="map", pairs=True),
    *options.all_shared("output no-history"),
)
def command(drawing: Path | None, pairs: str, benchmark: str, **values: Any) -> None:
    """Measure between every two cores, or every two hosts (--hosts … --ppn 1).

    Pairs that are slower than their peers, which share as much, are measured once more, alone,
    before they are called slow.
    """
    from mpigauge.products.map.measuring import measure_pairs

    measure_pairs(drawing=drawing, pairs=pairs, benchmark=benchmark, **values)
