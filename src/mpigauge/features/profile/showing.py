# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The page of a run where that is a profile; light to import, since most runs are none."""

from __future__ import annotations

from mpigauge.features.profile.finding import is_profile, profile_at


def page_of(word: str, home: str = "") -> str | None:
    """None: the run that the word names is no profile. `home`: a page with all runs to go back
    to."""
    if not is_profile(word):
        return None
    from mpigauge.cli.run_names import open_run
    from mpigauge.features.profile.page import profile_page

    stored = open_run(word)
    return profile_page(stored.path.name, stored, profile_at(word) or (), home)
