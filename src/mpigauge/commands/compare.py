# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge compare: runs, or parts of one, number by number, with verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mpigauge.cli import options
from mpigauge.cli.comparing import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.compare.compare import ComparedNumber, Comparison, Overall


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--by",
    metavar="COLUMN",
    help="Compare the parts of one run that differ in this column: placement, arm, cache, …, with "
    "the default one or the first.",
)
@options.only_option
@click.option(
    "--tolerance", metavar="SHARE", help="Less than this is no difference.  [default: 5%]"
)
@click.option(
    "--response",
    type=click.Choice(("median", "worst", "best")),
    default="median",
    help="What is compared: the median of launches, or the worst or best of them, of which nothing "
    "is decided.  [default: median]",
)
@click.option(
    "--fail-on",
    "fail_on",
    type=click.Choice(["slower", "different", "undecided"]),
    multiple=True,
    help="End with status 1 where any verdict is so. slower: and WORSE of figures.",
)
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="table", help="What to print."
)
def command(
    runs: Sequence[str],
    by: str | None,
    chosen: Sequence[str],
    tolerance: str | None,
    response: str,
    fail_on: Sequence[str],
    form: str,
) -> int:
    """Compare stored runs with the first of them: FASTER, SLOWER, SAME or UNDECIDED.

    Each number, each curve over all its sizes, and all times together; of profiles each call site.
    Each ratio has its 95 % interval; verdicts take into account how many were looked at.
    """
    from mpigauge.cli.comparing import print_comparison, share_of, sides_of, sides_within
    from mpigauge.cli.run_names import open_run
    from mpigauge.features.profile.finding import is_profile
    from mpigauge.model.errors import UserError
    from mpigauge.result.compare.compare import compare
    from mpigauge.result.compare.only import only, read_only

    if by is None and len(runs) < 2:
        raise UserError("name two runs or more, or one with --by placement or another column")
    if by is not None and len(runs) > 1:
        raise UserError("--by compares the parts of one run; name one run")
    if fail_on and response != "median":
        raise UserError(
            f"--response {response} decides nothing, so --fail-on never fails; drop one"
        )
    if by is None and any(map(is_profile, runs)):
        found = _compare_profiles(runs, chosen, share_of(tolerance), response, form)
        return int(any(_fails(said, fail_on) for said in found.verdicts))
    stored = [open_run(word) for word in runs]
    sides = sides_of(stored) if by is None else sides_within(stored[0], by)
    found = compare(only(sides, read_only(chosen)), share_of(tolerance), by or "", response)
    if not found.tables:
        why = [left.text for left in found.left_out]
        raise UserError("; ".join(["there is nothing to compare", *why]))
    print_comparison(found, form, stored)
    return int(any(_fails(said, fail_on) for said in found.verdicts))


def _compare_profiles(
    runs: Sequence[str], chosen: Sequence[str], tolerance: float, response: str, form: str
) -> Comparison:
    """By call sites, which are printed for people in a table of their own."""
    from mpigauge.cli.comparing import print_comparison
    from mpigauge.cli.run_names import open_run
    from mpigauge.cli.screen import screen, write
    from mpigauge.features.profile.comparing import compared_profiles, profiles_of
    from mpigauge.features.profile.show_compared import text_of
    from mpigauge.model.width import WIDTH
    from mpigauge.result.compare.only import only, read_only

    wanted, profiles = read_only(chosen), profiles_of(runs)
    stored = [open_run(word) for word in runs]
    found = compared_profiles(
        stored, profiles, tolerance, response, lambda sides: only(sides, wanted)
    )
    if form == "table":
        width = screen().room or WIDTH
        write(text_of(found.comparison, found.sides, found.sites, width))
    else:
        print_comparison(found.comparison, form, stored)
    return found.comparison


def _fails(entry: ComparedNumber | Overall, fail_on: Sequence[str]) -> bool:
    said = entry.judged.said if entry.judged else ""
    return (
        ("slower" in fail_on and entry.worse)
        or ("different" in fail_on and said in ("LESS", "MORE"))
        or ("undecided" in fail_on and said == "UNDECIDED")
    )
