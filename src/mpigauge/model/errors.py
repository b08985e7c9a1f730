# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The two ways to fail, and the nearest right word for a wrong one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class UserError(Exception):
    """The input or the environment is wrong; nothing was started. Exit status 2."""


class RunError(Exception):
    """Something failed after the launch. Exit status 1."""


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The one of `words` that `word` was probably meant to be, or None."""
    from difflib import get_close_matches

    known = {candidate.lower(): candidate for candidate in words}
    close = get_close_matches(word.lower(), known, n=1, cutoff=0.6)
    return known[close[0]] if close else None


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """The tail of an error sentence: "; did you mean 'PingPong'?", or nothing."""
    guess = nearest(word, words)
    return f"; did you mean '{guess}'?" if guess else ""
