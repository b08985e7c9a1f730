# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Profiles of programs as a kind of runs. Quick to import, as most runs are not profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpigauge.cli.options import USUAL_FORMAT
from mpigauge.cli.runs.kinds import CompareOptions, Kind, ShowOptions, kind
from mpigauge.model.errors import UserError
from mpigauge.products.profile import KIND
from mpigauge.products.profile.finding import holds_profile, is_profile, profile_at, word_for
from mpigauge.session.run_names import find_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mpigauge.cli.runs.kinds import Program
    from mpigauge.result.compare.comparison import ComparedNumber, Comparison, Overall
    from mpigauge.result.finding import Explanation


@kind(KIND)
class Profiles(Kind):
    def is_this(self, word: str) -> bool:
        return is_profile(word)

    def complete(self, word: str) -> None:
        from mpigauge.products.profile.launch.left import collect_left

        collect_left(find_run(word))

    def show(self, word: str, how: ShowOptions) -> None:
        from mpigauge.products.profile.printing import print_profile

        if how.pivot or how.to:
            raise UserError(
                f"--pivot sets sizes of messages down, and {word} is a profile; leave it out"
            )
        if how.only_remarks:
            raise UserError(f"--remarks is of measurements, and {word} is a profile; leave it out")
        jobs = profile_at(word, how.job) or ()
        print_profile(find_run(word), jobs, how.form or USUAL_FORMAT)

    def follow(self, word: str, every: float) -> bool:
        """Shows where the ranks of a program are until it ends. False: Ctrl-C ended that."""
        from mpigauge.cli.output import screen, tell, write
        from mpigauge.products.profile.launch.standing_now import RanksNow
        from mpigauge.products.profile.show.standings import Redrawn

        shown = Redrawn(write, screen)
        try:
            RanksNow(find_run(word), tell).follow(every, shown.show)
        except KeyboardInterrupt:
            return False
        return True

    def check_ended(self, word: str) -> None:
        """Checks nothing: the status of the program is in its profile."""

    def check_job(self, words: Sequence[str], job: int | None) -> None:
        """UserError: one of the profiles has no such job; the message lists those that it has."""
        if job is not None:
            for word in words:
                profile_at(word, job)

    def page(
        self,
        words: Sequence[str],
        limits_of: str | None = None,
        home: str = "",
        job: int | None = None,
    ) -> str:
        """Returns the page of call sites, ranks, peers and sizes."""
        del limits_of
        if len(words) > 1:
            raise UserError(
                "the page of a profile is about one run; `mpigauge compare` sets profiles beside "
                "each other"
            )
        return page_of(words[0], home, job)

    def compare(
        self, words: Sequence[str], how: CompareOptions
    ) -> Sequence[ComparedNumber | Overall]:
        """Prints a comparison of profiles by call sites, or their scaling if their numbers of ranks
        differ."""
        from mpigauge.products.profile.comparing import print_compared

        if how.pivot is not None:
            raise UserError("profiles are compared call site by call site; leave --pivot out")
        return print_compared(words, how)

    def beside(self, words: Sequence[str]) -> Comparison | None:
        """Compares profiles by call site; None: not all runs are profiles, or they differ in their
        numbers of ranks."""
        from mpigauge.products.profile.comparing import by_call_site

        if not all(map(is_profile, words)):
            return None
        return by_call_site(words)

    def explain(self, word: str) -> Explanation:
        from mpigauge.products.profile.analyse.causes import explained

        return explained(profile_at(word) or ())

    def causes(self) -> Sequence[tuple[str, str]]:
        from mpigauge.products.profile.analyse.causes import CAUSES

        return [(each.name, f"of a profile: {each.about}") for each in CAUSES]

    def program(self, word: str) -> Program | None:
        """Returns the program of a profile; None: it is a file, or was damaged since."""
        from mpigauge.products.profile.program import program_of

        folder = find_run(word)
        if folder.is_file() or not holds_profile(folder):
            return None
        return program_of(word, folder)


def page_of(word: str, home: str = "", job: int | None = None) -> str:
    """Returns the page of a profile. `home`: the page of all runs, for a link back. `job`: the
    number of the job; None: the one with most calls."""
    from mpigauge.products.profile.beside.measured import joined_at
    from mpigauge.products.profile.show.page import profile_page
    from mpigauge.session.run_names import open_run

    stored, jobs = open_run(word), profile_at(word, job) or ()
    beside, short = joined_at(stored.path, jobs), word_for(stored.path)
    return profile_page(stored.path.name, stored, jobs, home, beside, short)
