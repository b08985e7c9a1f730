# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ratios of launches, and which launches were taken in turn."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from mpigauge.stats.ratio import Sample, ratio
from mpigauge.stats.turns import in_turn

A = (1.00, 1.02, 0.99, 1.01, 1.03, 0.98)
B = (1.10, 1.12, 1.08, 1.13, 1.11, 1.05, 1.09)


def logs(values: tuple[float, ...]) -> list[float]:
    return [math.log(value) for value in values]


# --- against scipy ----------------------------------------------------------------------------
def test_unpaired_is_the_test_of_welch() -> None:
    found = ratio(Sample(A), Sample(B))
    known = stats.ttest_ind(logs(B), logs(A), equal_var=False)
    low, high = known.confidence_interval(0.95)
    assert found.p == pytest.approx(known.pvalue)
    assert found.freedom == pytest.approx(known.df)
    assert found.estimate == pytest.approx(
        (stats.gmean(B) / stats.gmean(A), math.exp(low), math.exp(high))
    )
    assert (found.launches, found.paired) == (6, False)


def test_launches_in_turn_are_judged_by_their_differences() -> None:
    pairs = [(i, i) for i in range(6)]
    found = ratio(Sample(A), Sample(B), pairs)
    known = stats.ttest_rel(logs(B[:6]), logs(A))
    assert found.p == pytest.approx(known.pvalue)
    assert (found.freedom, found.launches, found.paired) == (5, 6, True)


# --- where little is known ----------------------------------------------------------------------
def test_launches_are_not_believed_closer_than_each_knows_itself() -> None:
    close = Sample((1.0, 1.0001) * 3, own_error=0.0392)
    found = ratio(close, close)
    assert found.error == pytest.approx(math.sqrt(2 / 6) * 0.02)


def test_one_launch_has_a_ratio_and_no_interval() -> None:
    found = ratio(Sample((2.0,)), Sample((3.0,)))
    assert found.estimate.value == pytest.approx(1.5)
    assert math.isnan(found.estimate.low)
    assert math.isnan(found.p)


def test_launches_that_never_differ_tell_no_error() -> None:
    found = ratio(Sample((2.0,) * 6), Sample((3.0,) * 6))
    assert math.isnan(found.p)
    assert math.isnan(found.estimate.high)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_what_is_not_positive_has_no_ratio(bad: float) -> None:
    found = ratio(Sample((1.0, bad)), Sample((1.0, 2.0)))
    assert math.isnan(found.estimate.value)
    assert found.launches == 0


def test_more_launches_make_it_narrower() -> None:
    found = ratio(Sample(A), Sample(A))
    assert found.with_launches(24).error == pytest.approx(found.error / 2)
    assert found.with_launches(24).freedom > found.freedom


# --- turns --------------------------------------------------------------------------------------
def starts(text: str, side: str) -> list[tuple[str, int]]:
    """ABBA: a launch each, a second apart; their numbers count up on each side."""
    times = [f"2026-11-21T05:00:{second:02}Z" for second, who in enumerate(text) if who == side]
    return [(time, number) for number, time in enumerate(times)]


@pytest.mark.parametrize("order", ["ABABABABABAB", "ABBAABBAABBA"])
def test_neighbours_belong_together(order: str) -> None:
    assert in_turn(starts(order, "A"), starts(order, "B")) == [(i, i) for i in range(6)]


def test_one_that_is_missing_moves_no_others() -> None:
    order = "ABBAABABAABBAAB"  # after the sixth launch B lost one
    pairs = in_turn(starts(order, "A"), starts(order, "B"))
    assert [a - b for a, b in pairs] == [0, 0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize("order", ["AAAAAABBBBBB", "AAABBBAAABBB", "ABABABABAB", ""])
def test_those_one_after_the_other_and_few_are_not_paired(order: str) -> None:
    assert in_turn(starts(order, "A"), starts(order, "B")) == []


def test_launches_of_one_second_go_by_their_numbers() -> None:
    same = [("2026-11-21T05:00:00Z", number) for number in range(6)]
    assert in_turn(same, same) == [(i, i) for i in range(6)]


def test_unknown_times_pair_nothing() -> None:
    unknown = [("", number) for number in range(6)]
    assert in_turn(unknown, starts("B" * 6, "B")) == []


@pytest.mark.parametrize("back_at", range(1, 16))
def test_a_clock_that_is_set_back_pairs_next_to_nothing_wrongly(back_at: int) -> None:
    """Eight launches of each; an hour is lost before one of them. Only where the two ends of the
    order meet may there be a pair of no neighbours."""
    order = "ABBA" * 4
    times = [f"{5 if at < back_at else 4}:{at:02}" for at in range(len(order))]
    first, second = ([(times[at], at) for at, of in enumerate(order) if of == x] for x in "AB")
    pairs = in_turn(first, second)
    apart = [abs(first[i][1] - second[j][1]) for i, j in pairs]
    assert sum(step > 1 for step in apart) <= 1
