# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Compares profiles for `mpigauge compare`: call sites are judged like other numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.cli.output import screen, write
from mpigauge.cli.runs.comparing import names_of, print_comparison, share_of
from mpigauge.cli.runs.kinds import MEDIAN, CompareOptions
from mpigauge.cli.runs.pivoting import ONLY_PIVOTS
from mpigauge.model.errors import UserError
from mpigauge.model.units import listed, many
from mpigauge.model.width import WIDTH
from mpigauge.products.profile.analyse.compared import (
    ComparedSite,
    SideOfProfile,
    compared_sites,
    items_of,
)
from mpigauge.products.profile.analyse.jobs import main_jobs
from mpigauge.products.profile.analyse.scaling import has_several_sizes, scaling_of
from mpigauge.products.profile.finding import profile_at
from mpigauge.products.profile.show import scaling as scaling_show
from mpigauge.products.profile.show.compared import text_of
from mpigauge.result.compare.compare import compare
from mpigauge.result.compare.match.of_runs import side_of
from mpigauge.result.compare.match.only import only, read_only
from mpigauge.session.run_names import open_run

if TYPE_CHECKING:
    from mpigauge.products.profile.store.stored import ProfiledJob
    from mpigauge.result.compare.comparison import ComparedNumber, Comparison, Overall
    from mpigauge.result.compare.match.side import Side
    from mpigauge.runs.store import Run


@dataclass(frozen=True)
class ComparedProfiles:
    comparison: Comparison
    sides: tuple[SideOfProfile, ...]
    sites: tuple[ComparedSite, ...]


def profiles_of(words: Sequence[str], job: int | None = None) -> list[tuple[ProfiledJob, ...]]:
    """Returns the jobs of each run. UserError: a run is not a profile, or is empty."""
    profiles = []
    for word in words:
        jobs = profile_at(word, job)
        if jobs is None:
            raise UserError(
                f"{word} is not a profile of a program, and others of these runs are; compare "
                "profiles with profiles"
            )
        if not main_jobs(jobs):
            raise UserError(f"{word} holds no profile: no process in it came out of MPI_Init")
        profiles.append(jobs)
    return profiles


def profile_sides(words: Sequence[str], job: int | None = None) -> list[SideOfProfile]:
    """Returns the sides of a comparison of these profiles. UserError: a run is not a profile, or is
    empty."""
    profiles = profiles_of(words, job)
    names = names_of([open_run(word) for word in words])
    return [
        SideOfProfile.of(name, main_jobs(jobs)) for name, jobs in zip(names, profiles, strict=True)
    ]


def by_call_site(words: Sequence[str]) -> Comparison | None:
    """Compares profiles with the first one. None: they cannot be compared, for example as their
    numbers of ranks differ."""
    try:
        profiles = profiles_of(words)
        runs = [open_run(word) for word in words]
        result = compared_profiles(runs, profiles, share_of(None), "median", lambda sides: sides)
    except UserError:
        return None
    return result.comparison


def print_compared(words: Sequence[str], how: CompareOptions) -> Sequence[ComparedNumber | Overall]:
    """Prints profiles beside each other, call site by call site, or their scaling if their numbers
    of ranks differ; returns the verdicts. UserError: they cannot be compared, or not in this
    format."""
    profiles = profile_sides(words, how.job)
    if how.scaling or has_several_sizes(profiles):
        _check_scaling(how)
        _print_scaling(profiles, how)
        return ()
    filters = read_only(how.only)
    stored = [open_run(word) for word in words]
    compared = compared_profiles(
        stored,
        profiles_of(words, how.job),
        share_of(how.tolerance),
        how.response,
        lambda sides: only(sides, filters),
    )
    _check_form(how.form)
    if how.form == "table":
        width = screen().room or WIDTH
        write(text_of(compared.comparison, compared.sides, compared.sites, width))
    else:
        print_comparison(compared.comparison, how.form, stored)
    return list(compared.comparison.verdicts)


def _check_form(form: str) -> None:
    if form in ONLY_PIVOTS:
        raise UserError(f"--format {form} is of runs, and these are profiles; take table or csv")


def _check_scaling(how: CompareOptions) -> None:
    """UserError: an option is about verdicts, which scaling does not have."""
    values = {
        "--only": how.only,
        "--tolerance": how.tolerance,
        "--fail-on": how.fail_on,
        "--response": how.response != MEDIAN,
    }
    given = [name for name, value in values.items() if value]
    if given:
        raise UserError(
            f"profiles on several numbers of ranks are compared by their scaling, which has no "
            f"verdicts; leave {listed(given)} out"
        )


def _print_scaling(sides: Sequence[SideOfProfile], how: CompareOptions) -> None:
    """Prints how a program scales over its profiles."""
    _check_form(how.form)
    scaling = scaling_of(sides, how.scaling)
    if how.form == "table":
        shown_on = screen()
        write(scaling_show.text_of(scaling, shown_on, shown_on.room or WIDTH))
    else:
        as_text = scaling_show.as_csv if how.form == "csv" else scaling_show.as_json
        write(as_text(scaling))


def compared_profiles(
    runs: Sequence[Run],
    profiles: Sequence[Sequence[ProfiledJob]],
    tolerance: float,
    response: str,
    chosen: Callable[[Sequence[Side]], Sequence[Side]],
) -> ComparedProfiles:
    """Compares all profiles with the first; `chosen`: selects their numbers. UserError: their
    numbers of ranks differ."""
    sides = [
        SideOfProfile.of(name, main_jobs(jobs))
        for name, jobs in zip(names_of(runs), profiles, strict=True)
    ]
    _check_ranks(sides)
    sites = compared_sites(sides)
    program = sides[0].jobs[0].program
    judged = [
        side_of(side.name, run, items_of(number, side, sites, program))
        for number, (side, run) in enumerate(zip(sides, runs, strict=True))
    ]
    return ComparedProfiles(
        compare(chosen(judged), tolerance, response=response), tuple(sides), tuple(sites)
    )


def _check_ranks(sides: Sequence[SideOfProfile]) -> None:
    first, *others = ((side.name, len(side.jobs[0].ranks)) for side in sides)
    for name, ranks in others:
        if ranks != first[1]:
            raise UserError(
                f"{first[0]} had {many(first[1], 'rank')} and {name} {ranks}: profiles of as many "
                "ranks can be compared"
            )
