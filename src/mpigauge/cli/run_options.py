# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The options of what is measured, and how: of `mpigauge run` and all that makes such runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from mpigauge.cli import options, strict
from mpigauge.cli.helping import MESSAGES, RANKS, SOME, TIME, option
from mpigauge.cli.options import transport_option, tuned_option
from mpigauge.model.errors import UserError
from mpigauge.model.option_table import OFFERED, OptionRow


def suite_option(row: OptionRow) -> Any:
    """An option that only some benchmarks use."""
    values = click.Choice(row.choices) if row.takes_one else None
    return option(
        row.flag,
        row.key,
        type=values,
        metavar=row.metavar or None,
        help=row.about,
        heading=SOME,
        former=row.former,
    )


RUN_OPTIONS = (
    option(
        "--ranks",
        metavar="LIST",
        help="Sizes of groups.  [default: 2,4,… all cores]",
        heading=RANKS,
    ),
    option(
        "--np",
        metavar="N",
        help="Ranks of the job.  [default: the largest group]",
        heading=RANKS,
        brief="Ranks of the job.",
    ),
    option(
        "--sizes",
        metavar="LIST",
        help="Message sizes: 0,1..4Mi, a list with ranges that double.  [default: 0..4Mi]",
        heading=MESSAGES,
        brief="Message sizes, such as 0,8..4Mi.  [default: 0..4Mi]",
    ),
    option("--sizes-file", metavar="FILE", help="Message sizes, one per line.", heading=MESSAGES),
    options.precision_option,
    options.seconds_option,
    options.launches_option,
    option(
        "--datatype",
        metavar="TYPE",
        help="Of messages.  [default: byte; float for reductions]",
        heading=MESSAGES,
    ),
    option("--op", metavar="OP", help="Operation of reductions.  [default: sum]", heading=MESSAGES),
    option(
        "--root-shift",
        is_flag=True,
        help="The root moves by one rank at each call.",
        heading=MESSAGES,
    ),
    option(
        "--inflight",
        type=int,
        metavar="N",
        help="Messages in flight per wait.  [default: 256]",
        heading=MESSAGES,
    ),
    option(
        "--cache",
        type=click.Choice(["hot", "cold", "both"]),
        help="cold: buffers that no cache holds.  [default: hot]",
        heading=MESSAGES,
    ),
    option(
        "--data",
        type=click.Choice(["static", "fresh", "both"]),
        help="fresh: the send buffer is written before each call.  [default: static, as IMB]",
        heading=MESSAGES,
    ),
    option(
        "--sync",
        type=click.Choice(["auto", "barrier", "dissemination", "clock"]),
        help="How ranks are brought together before a call of a collective.  [default: auto, by a "
        "clock that they share, else barrier]",
        heading=MESSAGES,
    ),
    option(
        "--bind",
        metavar="CORES",
        help="Cores of rank 0, 1, …: 0,4 or 0-3,4+5; none leaves it to others.  [default: a core "
        "for each rank]",
        heading=RANKS,
    ),
    options.place_option,
    options.placement_option,
    *options.gpu_options,
    *map(suite_option, OFFERED),
    options.blas_option,
    options.compiler_option,
    options.mpis_option,
    transport_option,
    tuned_option,
    options.set_option,
    options.env_option,
    option("--classic", is_flag=True, help="The schedule and arithmetic of IMB.", heading=TIME),
    option(
        "--npmin", metavar="N", help="Smallest group, as IMB's -npmin.  [default: 2]", heading=RANKS
    ),
    option(
        "--multi",
        type=click.Choice(["0", "1"]),
        help="Groups side by side: 0 in one row, 1 in a row each.",
        heading=RANKS,
    ),
    option(
        "--rank-grid",
        "map",
        metavar="PxQ",
        help="Order of ranks, as IMB's -map.",
        heading=RANKS,
        former=["--map"],
    ),
    *options.host_options,
    options.oversubscribe_option,
    option(
        "--memory-limit",
        metavar="SIZE",
        help="Buffers per rank at most.  [default: 80% of free memory]",
        heading=RANKS,
    ),
    options.dry_run_option,
    options.topology_option,
    options.seed_option,
    options.timeout_option,
    options.output_option,
    options.history_option,
)


def read_words(words: Sequence[str]) -> dict[str, Any]:
    """The values of these options, as `mpigauge run` reads them. UserError: one is wrong."""
    command = click.Command("run", params=[], add_help_option=False)
    options.together(*RUN_OPTIONS)(command)
    try:
        strict.check(command, list(words))
        return dict(command.make_context("run", list(words)).params)
    except click.ClickException as error:
        raise UserError(error.format_message()) from None
