# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Profiles by the names of runs: their pages, and their comparisons. Light to import, since most
runs are not profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.features.profile.finding import is_profile, profile_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.result.compare.comparison import Comparison


def page_of(word: str, home: str = "") -> str | None:
    """None: the run that the word names is not a profile. `home`: a page with all runs to go back
    to."""
    if not is_profile(word):
        return None
    from mpigauge.cli.run_names import open_run
    from mpigauge.features.profile.measured import joined_at
    from mpigauge.features.profile.page import profile_page

    stored, jobs = open_run(word), profile_at(word) or ()
    return profile_page(stored.path.name, stored, jobs, home, joined_at(stored.path, jobs))


def compared_runs(words: Sequence[str]) -> Comparison | None:
    """Call site by call site. None: not all of the runs are profiles that can be compared so."""
    if not all(map(is_profile, words)):
        return None
    from mpigauge.features.profile.comparing import by_call_site

    return by_call_site(words)
