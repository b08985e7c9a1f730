# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Shows and compares profiles by the names of their runs. Quick to import, as most runs are not
profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.cli.options import PROFILE_FORMATS
from mpigauge.model.errors import UserError
from mpigauge.model.units import listed
from mpigauge.model.width import WIDTH
from mpigauge.products.profile.finding import is_profile, profile_at, word_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.products.profile.store.stored import ProfiledJob
    from mpigauge.result.compare.comparison import Comparison

PRINTED = ("table", "json", "csv", *PROFILE_FORMATS)
"""The formats with special output for profiles."""


def print_profile(folder: Path, jobs: Sequence[ProfiledJob], form: str) -> None:
    """Prints the profile of a run. UserError: the format is not in PRINTED, or is for profiles of
    mpigauge only, and the run is a report of another profiler."""
    from mpigauge.cli.screen import screen, write
    from mpigauge.products.profile.beside.measured import joined_at
    from mpigauge.products.profile.show.text import JOINED, lines_of

    if form not in PRINTED:
        raise UserError(
            f"--format {form} prints no profiles, and {folder} is one; take {listed(PRINTED, 'or')}"
        )
    source = next((job.source for job in jobs), "")
    if source and form in PROFILE_FORMATS:
        raise UserError(
            f"--format {form} prints profiles of mpigauge, and {folder} is a report of {source}; "
            "csv and json have its numbers"
        )
    beside = joined_at(folder, jobs) if form in JOINED else None
    lines = lines_of(jobs, form, screen().room or WIDTH, beside, word_for(folder))
    write("\n".join([*lines, ""]))


def page_of(word: str, home: str = "") -> str | None:
    """Returns the page of a profile; None: the run is not a profile. `home`: the page of all runs,
    for a link back."""
    if not is_profile(word):
        return None
    from mpigauge.products.profile.beside.measured import joined_at
    from mpigauge.products.profile.show.page import profile_page
    from mpigauge.session.run_names import open_run

    stored, jobs = open_run(word), profile_at(word) or ()
    beside, short = joined_at(stored.path, jobs), word_for(stored.path)
    return profile_page(stored.path.name, stored, jobs, home, beside, short)


def compared_runs(words: Sequence[str]) -> Comparison | None:
    """Compares profiles by call site. None: not all runs are profiles, or they do not match."""
    if not all(map(is_profile, words)):
        return None
    from mpigauge.products.profile.comparing import by_call_site

    return by_call_site(words)
