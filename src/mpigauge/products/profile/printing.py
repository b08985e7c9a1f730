# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Prints profiles in all their formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.cli.options import PROFILE_FORMATS
from mpigauge.cli.output import screen, write
from mpigauge.model.errors import UserError
from mpigauge.model.units import listed
from mpigauge.model.width import WIDTH
from mpigauge.products.profile.beside.measured import joined_at
from mpigauge.products.profile.finding import word_for
from mpigauge.products.profile.show.text import JOINED, lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from mpigauge.products.profile.store.stored import ProfiledJob

PRINTED = ("table", "json", "csv", *PROFILE_FORMATS)
"""The formats with special output for profiles."""


def print_profile(folder: Path, jobs: Sequence[ProfiledJob], form: str) -> None:
    """Prints the profile of a run. UserError: the format is not in PRINTED, or is for profiles of
    mpigauge only, and the run is a report of another profiler."""
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
