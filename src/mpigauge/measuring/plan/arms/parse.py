# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The small languages of options: durations, shares, counts, grids, and NAME=VALUE."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from mpigauge.model.errors import UserError
from mpigauge.model.limits import (
    LEAST_SHARE,
    MOST_RANKS,
    MOST_SECONDS,
    decimal_number,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?\s*(?:ms|min|s|m|h)\s*)+")
_PIECE = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|min|s|m|h)")
_NAME = re.compile(r"[A-Za-z_][\w.]*")


def parse_duration(option: str, text: str) -> float:
    """Seconds in 30s, 2m, 1m30s, 500ms or a plain number of seconds."""
    word = text.strip().lower()
    seconds = decimal_number(word)
    if _DURATION.fullmatch(word):
        seconds = sum(decimal_number(n) * _SECONDS[unit] for n, unit in _PIECE.findall(word))
    if math.isnan(seconds):
        raise UserError(f"{option}: '{text}' is not a time; write 30s, 2m or 1m30s")
    if seconds <= 0:
        raise UserError(f"{option}: the time must be longer than nothing; write 30s or 2m")
    if seconds > MOST_SECONDS:
        raise UserError(f"{option}: '{text}' is longer than a year; write 30s, 2m or 1m30s")
    return seconds


def parse_share(option: str, text: str) -> float:
    """A relative error: 5%, 2 %, 0.05."""
    word = text.strip()
    share = decimal_number(word.removesuffix("%").strip()) / (100 if word.endswith("%") else 1)
    if math.isnan(share):
        raise UserError(f"{option}: '{text}' is not a relative error; write 5% or 0.05")
    if not LEAST_SHARE <= share < 1:
        raise UserError(f"{option}: {text} is out of range; write a share from 0.01% to 99%")
    return share


def parse_counts(option: str, text: str, what: str) -> tuple[int, ...]:
    """Positive whole numbers separated by commas, each once."""
    counts = [parse_count(option, word, what) for word in text.split(",")]
    return tuple(dict.fromkeys(counts))


def parse_count(option: str, word: str, what: str, most: int = MOST_RANKS) -> int:
    count = whole_number(word)
    if count is None or not 1 <= count <= most:
        raise UserError(f"{option}: '{word}' is not a number of {what}; write one from 1 to {most}")
    return count


def parse_grid(option: str, text: str) -> tuple[int, int]:
    """PxQ, as IMB's -map takes it."""
    first, _, last = text.lower().partition("x")
    rows, columns = whole_number(first), whole_number(last)
    if not rows or not columns or rows * columns > MOST_RANKS:
        raise UserError(f"{option}: '{text}' is not a grid; write two numbers with x between: 4x2")
    return rows, columns


def parse_agent(text: str) -> tuple[str, ...]:
    """The words of a launch agent, as in --rsh "ssh -p 50000"; launchers split them at blanks."""
    words = text.split()
    if not words or any(quote in text for quote in "'\"\\"):
        raise UserError(
            f"--rsh: '{text}' cannot be passed to a launcher, which splits it at blanks and reads "
            "no quotes; write a program and plain words, such as 'ssh -p 50000', or name a script"
        )
    return tuple(words)


def parse_settings(words: Iterable[str]) -> dict[str, str]:
    """The settings in --set NAME=VALUE; the last one of a name counts."""
    return dict(_assignment("--set", word) for word in words)


def parse_env(words: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables in --env NAME=VALUE; a NAME alone passes the variable on from here."""
    return dict(_variable(word, environment) for word in words)


def _variable(word: str, environment: Mapping[str, str]) -> tuple[str, str]:
    if "=" in word:
        return _assignment("--env", word)
    if not is_name(word):
        raise UserError(f"--env: '{word}' is not a name of a variable; write NAME or NAME=VALUE")
    if word not in environment:
        raise UserError(f"--env: there is no variable {word} here; write {word}=VALUE")
    return word, environment[word]


def is_name(word: str) -> bool:
    """True if an environment variable may have this name."""
    return _NAME.fullmatch(word) is not None


def _assignment(option: str, word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not is_name(name):
        raise UserError(f"{option}: '{word}' is not of the form NAME=VALUE")
    if "\0" in value:
        raise UserError(f"{option}: the value of {name} holds a zero byte, which no variable can")
    return name, value
