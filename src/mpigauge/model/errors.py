# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The two kinds of failure, and the nearest valid word for a misspelt one."""

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

    candidates = {candidate.lower(): candidate for candidate in words}
    close = get_close_matches(word.lower(), candidates, n=1, cutoff=0.6)
    if close:
        return candidates[close[0]]
    return None


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """The tail of an error sentence: "; did you mean 'PingPong'?", or nothing."""
    guess = nearest(word, words)
    if guess:
        return f"; did you mean '{guess}'?"
    return ""


def nearest_or_all(word: str, words: Iterable[str]) -> str:
    """The tail of an error sentence about an unknown word: the nearest right one, else all."""
    names = list(words)
    return did_you_mean(word, names) or f"; there are {', '.join(names)}"


def no_such(what: str, name: str, names: Iterable[str], where: str = "") -> UserError:
    """The error for an unknown name; `where` is the option that received it, such as --as."""
    place = f"{where}: " if where else ""
    return UserError(f"{place}there is no {what} '{name}'{nearest_or_all(name, names)}")
