# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge compare: runs, or parts of one, number by number, with verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.cli import completing, options
from mpigauge.cli.helping import Command
from mpigauge.cli.runs.comparing import FORMATS
from mpigauge.cli.runs.kinds import MEDIAN, Scaling
from mpigauge.cli.runs.pivoting import pivot_options
from mpigauge.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.result.compare.comparison import ComparedNumber, Overall


@click.command("compare", cls=Command)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=completing.runs)
@click.option(
    "--by",
    metavar="COLUMN",
    help="Compare the parts of one run that differ in this column: placement, arm, cache, …, with "
    "the default one or the first.",
)
@pivot_options
@click.option(
    "--rows",
    "as_rows",
    is_flag=True,
    help="A line for each number of each run, also where there are more than two.",
)
@options.only_option
@click.option(
    "--tolerance", metavar="SHARE", help="Less than this is not a difference.  [default: 5%]"
)
@click.option(
    "--response",
    type=click.Choice(("median", "worst", "best")),
    default=MEDIAN,
    help="Compare the median of launches, or the worst or best one, for which there is no "
    "verdict.  [default: median]",
)
@click.option(
    "--fail-on",
    "fail_on",
    type=click.Choice(["slower", "different", "undecided"]),
    multiple=True,
    help="End with status 1 if any row has this verdict; slower includes WORSE of figures.",
)
@click.option(
    "--scaling",
    type=click.Choice(("strong", "weak")),
    help="Scaling of profiles on several numbers of ranks: the problem has one size (strong), or "
    "one per rank (weak).  [default: inferred from the total computation]",
)
@options.format_of(FORMATS)
@options.job_option
def command(
    runs: Sequence[str],
    by: str | None,
    pivot: str | None,
    to: str | None,
    as_rows: bool,
    chosen: Sequence[str],
    tolerance: str | None,
    response: str,
    fail_on: Sequence[str],
    scaling: Scaling | None,
    form: str,
    job: int | None,
) -> int:
    """Compare stored runs with the first of them: FASTER, SLOWER, SAME or UNDECIDED.

    Each number, each curve over all its sizes, and all times together; of profiles each call site,
    or how they scale if their numbers of ranks differ.
    Each ratio has its 95 % interval; verdicts are corrected for the number of ratios. Three and
    more runs are side by side, with the best of each line marked.
    """
    from mpigauge.cli.runs.kinds import KINDS, USUAL, CompareOptions, kind_among

    _check_asked(runs, by, pivot, to, as_rows, response, fail_on)
    kind = KINDS[USUAL] if by is not None else kind_among(runs)
    how = CompareOptions(
        form, by, pivot, to, as_rows, chosen, tolerance, response, scaling, fail_on, job
    )
    kind.check_job(runs, job)
    return _status(kind.compare(runs, how), fail_on)


def _status(verdicts: Iterable[ComparedNumber | Overall], fail_on: Sequence[str]) -> int:
    """The exit status: 1 where --fail-on names one of these verdicts."""
    return int(any(_fails(each, fail_on) for each in verdicts))


def _check_asked(
    runs: Sequence[str],
    by: str | None,
    pivot: str | None,
    to: str | None,
    as_rows: bool,
    response: str,
    fail_on: Sequence[str],
) -> None:
    """UserError: these options do not go together."""
    if by is None and pivot is None and len(runs) < 2:
        raise UserError("name two runs or more, or one with --by placement or another column")
    if by is not None and len(runs) > 1:
        raise UserError("--by compares the parts of one run; name one run")
    if by is not None and pivot is not None:
        raise UserError("--by and --pivot both select the comparison; drop one")
    if as_rows and pivot is not None:
        raise UserError("--rows is a line for each number, --pivot one for each size; drop one")
    if pivot is not None and response != MEDIAN:
        raise UserError(f"--pivot is of medians over launches; drop --response {response}")
    if to is not None and pivot is None:
        raise UserError("--to names the column of ratios of a pivot; add --pivot COLUMN")
    if fail_on and response != MEDIAN:
        raise UserError(
            f"--response {response} decides nothing, so --fail-on never fails; drop one"
        )


def _fails(entry: ComparedNumber | Overall, fail_on: Sequence[str]) -> bool:
    if "slower" in fail_on and entry.worse:
        return True
    if entry.judged is None:
        return False
    verdict = entry.judged.verdict
    if verdict == "UNDECIDED":
        return "undecided" in fail_on
    return verdict in ("LESS", "MORE") and "different" in fail_on
