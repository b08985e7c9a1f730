# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Compares profiles for `mpigauge compare`: call sites are judged like other numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpigauge.cli.comparing import names_of
from mpigauge.model.errors import UserError
from mpigauge.model.units import many
from mpigauge.products.profile.analyse.compared import (
    ComparedSite,
    SideOfProfile,
    compared_sites,
    items_of,
)
from mpigauge.products.profile.analyse.jobs import main_jobs
from mpigauge.products.profile.finding import profile_at
from mpigauge.result.compare.compare import compare
from mpigauge.result.compare.of_runs import side_of

if TYPE_CHECKING:
    from mpigauge.products.profile.store.stored import ProfiledJob
    from mpigauge.result.compare.comparison import Comparison
    from mpigauge.result.compare.side import Side
    from mpigauge.runs.store import Run


@dataclass(frozen=True)
class ComparedProfiles:
    comparison: Comparison
    sides: tuple[SideOfProfile, ...]
    sites: tuple[ComparedSite, ...]


def profiles_of(words: Sequence[str]) -> list[tuple[ProfiledJob, ...]]:
    """Returns the jobs of each run. UserError: a run is not a profile, or is empty."""
    profiles = []
    for word in words:
        jobs = profile_at(word)
        if jobs is None:
            raise UserError(
                f"{word} is not a profile of a program, and others of these runs are; compare "
                "profiles with profiles"
            )
        if not main_jobs(jobs):
            raise UserError(f"{word} holds no profile: no process in it came out of MPI_Init")
        profiles.append(jobs)
    return profiles


def profile_sides(words: Sequence[str]) -> list[SideOfProfile]:
    """Returns the sides of a comparison of these profiles. UserError: a run is not a profile, or is
    empty."""
    from mpigauge.session.run_names import open_run

    profiles = profiles_of(words)
    names = names_of([open_run(word) for word in words])
    return [
        SideOfProfile.of(name, main_jobs(jobs)) for name, jobs in zip(names, profiles, strict=True)
    ]


def by_call_site(words: Sequence[str]) -> Comparison | None:
    """Compares profiles with the first one. None: they cannot be compared, for example as their
    numbers of ranks differ."""
    from mpigauge.cli.comparing import share_of
    from mpigauge.session.run_names import open_run

    try:
        profiles = profiles_of(words)
        runs = [open_run(word) for word in words]
        result = compared_profiles(runs, profiles, share_of(None), "median", lambda sides: sides)
    except UserError:
        return None
    return result.comparison


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
