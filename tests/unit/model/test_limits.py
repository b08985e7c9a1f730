# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Numbers that users write: those that are too large are refused, and nothing else is done."""

from __future__ import annotations

import math

import pytest

from mpigauge.measuring.plan.arms import parse
from mpigauge.model.errors import UserError
from mpigauge.model.limits import MOST_RANKS, MOST_SECONDS, decimal_number, whole_number

HUGE = "9" * 5000


@pytest.mark.parametrize("word", ["0", " 12 ", "0007"])
def test_whole_numbers(word: str) -> None:
    assert whole_number(word) == int(word)


@pytest.mark.parametrize("word", ["", "-1", "1.5", "x", "1e3", "٣", "²", "1_000", HUGE])
def test_words_that_are_no_whole_numbers(word: str) -> None:
    assert whole_number(word) is None


@pytest.mark.parametrize("word", ["", "-1", "nan", "inf", "1e3", ".5", "5.", "1,5", HUGE])
def test_words_that_are_no_decimal_numbers(word: str) -> None:
    assert math.isnan(decimal_number(word))
    assert decimal_number("12.5") == 12.5


def test_limits_of_options() -> None:
    assert parse.parse_count("--np", str(MOST_RANKS), "ranks") == MOST_RANKS
    assert parse.parse_duration("--time", "366 h") == 366 * 3600
    for word in (str(MOST_RANKS + 1), HUGE, "0"):
        with pytest.raises(UserError, match=f"write one from 1 to {MOST_RANKS}"):
            parse.parse_count("--np", word, "ranks")
    for word in (str(int(MOST_SECONDS) + 1), f"{HUGE}h", HUGE, "1h1h8784h"):
        with pytest.raises(UserError, match="--time: "):
            parse.parse_duration("--time", word)
    for word in (f"{HUGE}x1", "1x", "x", f"{MOST_RANKS}x2"):
        with pytest.raises(UserError, match="is not a grid"):
            parse.parse_grid("--map", word)
