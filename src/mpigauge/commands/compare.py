# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""mpigauge compare: runs, or parts of one, number by number, with verdicts."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import click

from mpigauge.cli import completing, options
from mpigauge.cli.comparing import FORMATS, MANY
from mpigauge.cli.helping import Command
from mpigauge.cli.pivoting import ONLY_PIVOTS, pivot_options
from mpigauge.model.errors import UserError
from mpigauge.model.units import listed

MEDIAN = "median"

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mpigauge.products.profile.analyse.compared import SideOfProfile
    from mpigauge.products.profile.analyse.scaling import Kind
    from mpigauge.result.compare.comparison import ComparedNumber, Comparison, Overall


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
    "--scaling",
    type=click.Choice(("strong", "weak")),
    help="Of profiles on several numbers of ranks: the problem has one size, or one per rank.  "
    "[default: inferred from the total computation]",
)
@options.format_of(FORMATS)
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
    scaling: Kind | None,
    form: str,
) -> int:
    """Compare stored runs with the first of them: FASTER, SLOWER, SAME or UNDECIDED.

    Each number, each curve over all its sizes, and all times together; of profiles each call site,
    or how they scale if their numbers of ranks differ.
    Each ratio has its 95 % interval; verdicts are corrected for the number of ratios. Three and
    more runs are side by side, with the best of each line marked.
    """
    from mpigauge.cli.comparing import print_comparison, share_of, sides_of, sides_within
    from mpigauge.cli.pivoting import pivoted, print_pivot, sides_across
    from mpigauge.cli.terminal import TERMINAL
    from mpigauge.products.profile.analyse.scaling import has_several_sizes
    from mpigauge.products.profile.comparing import profile_sides
    from mpigauge.products.profile.finding import is_profile
    from mpigauge.result.compare.compare import compare
    from mpigauge.result.compare.only import only, read_only
    from mpigauge.session.run_names import open_runs

    _check_asked(runs, by, pivot, to, as_rows, response, fail_on)
    if by is None and any(map(is_profile, runs)):
        if pivot is not None:
            raise UserError("profiles are compared call site by call site; leave --pivot out")
        profiles = profile_sides(runs)
        if scaling or has_several_sizes(profiles):
            no_verdicts = {"--only": chosen, "--tolerance": tolerance, "--fail-on": fail_on}
            _check_scaling([name for name, value in no_verdicts.items() if value], response)
            return _print_scaling(profiles, scaling, form)
        comparison = _compare_profiles(runs, chosen, share_of(tolerance), response, form)
        return _status(comparison.verdicts, fail_on)
    if scaling:
        raise UserError("--scaling is for profiles, and these runs are none; leave it out")
    stored = open_runs(runs, TERMINAL)
    varied = by or ""
    if pivot is not None:
        sides, varied = sides_across(stored, pivot)
    else:
        sides = sides_of(stored) if by is None else sides_within(stored[0], by)
    sides = only(sides, read_only(chosen))
    tower = as_rows or response != MEDIAN or len(sides) < MANY
    if pivot is not None or form in ONLY_PIVOTS or (form == "table" and not tower):
        across = pivoted(sides, share_of(tolerance), varied, to)
        names = []
        if not varied:
            names = [side.name for side in sides]
        print_pivot(across, form, stored, names)
        verdicts = list(chain.from_iterable(each.verdicts for each in across.comparisons))
        return _status(verdicts, fail_on)
    comparison = compare(sides, share_of(tolerance), varied, response)
    if not comparison.tables:
        raise UserError(comparison.refusal)
    print_comparison(comparison, form, stored)
    return _status(comparison.verdicts, fail_on)


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


def _check_scaling(options: Sequence[str], response: str) -> None:
    """UserError: one of these options is given, and scaling has no verdicts."""
    if response != MEDIAN:
        options = [*options, "--response"]
    if options:
        raise UserError(
            f"profiles on several numbers of ranks are compared by their scaling, which has no "
            f"verdicts; leave {listed(options)} out"
        )


def _print_scaling(sides: Sequence[SideOfProfile], kind: Kind | None, form: str) -> int:
    """Prints how a program scales over its profiles; the exit status is 0."""
    from mpigauge.cli.screen import screen, write
    from mpigauge.model.width import WIDTH
    from mpigauge.products.profile.analyse.scaling import scaling_of
    from mpigauge.products.profile.show.scaling import as_csv, as_json, text_of

    if form in ONLY_PIVOTS:
        raise UserError(f"--format {form} is of runs, and these are profiles; take table or csv")
    scaling = scaling_of(sides, kind)
    if form == "table":
        shown_on = screen()
        write(text_of(scaling, shown_on, shown_on.room or WIDTH))
    else:
        write(as_csv(scaling) if form == "csv" else as_json(scaling))
    return 0


def _compare_profiles(
    runs: Sequence[str], chosen: Sequence[str], tolerance: float, response: str, form: str
) -> Comparison:
    """Compares profiles by call sites, which people see in a table of their own."""
    from mpigauge.cli.comparing import print_comparison
    from mpigauge.cli.screen import screen, write
    from mpigauge.model.width import WIDTH
    from mpigauge.products.profile.comparing import compared_profiles, profiles_of
    from mpigauge.products.profile.show.compared import text_of
    from mpigauge.result.compare.only import only, read_only
    from mpigauge.session.run_names import open_run

    filters, profiles = read_only(chosen), profiles_of(runs)
    stored = [open_run(word) for word in runs]
    compared = compared_profiles(
        stored, profiles, tolerance, response, lambda sides: only(sides, filters)
    )
    if form in ONLY_PIVOTS:
        raise UserError(f"--format {form} is of runs, and these are profiles; take table or csv")
    if form == "table":
        width = screen().room or WIDTH
        write(text_of(compared.comparison, compared.sides, compared.sites, width))
    else:
        print_comparison(compared.comparison, form, stored)
    return compared.comparison


def _fails(entry: ComparedNumber | Overall, fail_on: Sequence[str]) -> bool:
    if "slower" in fail_on and entry.worse:
        return True
    if entry.judged is None:
        return False
    verdict = entry.judged.verdict
    if verdict == "UNDECIDED":
        return "undecided" in fail_on
    return verdict in ("LESS", "MORE") and "different" in fail_on
