# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Ratios of launches, and which launches were taken in turn."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mpigauge.model.between import LEAST_RUNS
from mpigauge.result.stats.in_turn import in_turn
from mpigauge.result.stats.ratio import Ratio, Sample, ratio

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
    assert found.estimate[1:] == pytest.approx((math.exp(low), math.exp(high)))
    assert (found.launches, found.paired) == (6, False)


def test_launches_in_turn_are_judged_by_their_differences() -> None:
    pairs = [(i, i) for i in range(6)]
    found = ratio(Sample(A), Sample(B), pairs)
    known = stats.ttest_rel(logs(B[:6]), logs(A))
    assert found.p == pytest.approx(known.pvalue)
    assert (found.freedom, found.launches, found.paired) == (5, 6, True)


# --- of what is printed ------------------------------------------------------------------------
@pytest.mark.parametrize("pairs", [[], [(i, i) for i in range(6)]])
def test_the_ratio_is_that_of_the_two_medians(pairs: list[tuple[int, int]]) -> None:
    """The two groups of launches whose printed medians, 1.261 and 1.214 µs, stood beside 1.53."""
    fast_mostly = (1.20, 1.21, 1.22, 1.30, 1.31, 1.32)
    slow_mostly = (1.10, 1.11, 1.208, 1.22, 4.0, 4.1)
    found = ratio(Sample(fast_mostly), Sample(slow_mostly), pairs)
    assert found.estimate.value == pytest.approx(1.214 / 1.26)
    low, high = found.estimate[1:]
    assert low <= found.estimate.value <= high
    assert high > stats.gmean(slow_mostly) / stats.gmean(fast_mostly)


# --- launches that lie far from all others --------------------------------------------------------
WILD = (*A[:5], 3.0)
SLOW = (1.20, 1.22, 1.18, 1.23, 1.21, 1.19)


def by_fisher(table: list[list[int]]) -> float:
    return float(stats.fisher_exact(np.array(table)).pvalue)


def test_a_wild_launch_is_left_out_of_the_interval() -> None:
    found, without = ratio(Sample(WILD), Sample(B)), ratio(Sample(A[:5]), Sample(B))
    assert found.left_out == 1
    assert found.estimate[1:] == pytest.approx(without.estimate[1:], rel=0.01)
    assert found.error == pytest.approx(without.error)
    assert found.launches == 6


def test_its_p_value_is_not_less_than_that_of_a_count() -> None:
    """Five of six below the middle between the medians, and none of six: Fisher's exact test."""
    found = ratio(Sample(WILD), Sample(SLOW))
    assert found.p == pytest.approx(by_fisher([[5, 1], [0, 6]]))
    higher = ratio(Sample(A), Sample((*SLOW[:5], 3.3)))
    assert higher.p == pytest.approx(by_fisher([[6, 0], [0, 6]]))


def test_pairs_with_a_wild_launch_go_by_the_better_of_two_counts() -> None:
    pairs = [(i, i) for i in range(6)]
    higher = ratio(Sample(A), Sample((*SLOW[:5], 3.3)), pairs)
    assert (higher.left_out, higher.freedom) == (1, 4)
    assert higher.p == pytest.approx(by_fisher([[6, 0], [0, 6]]))
    drifting = tuple(value * (1 + number) for number, value in enumerate(A))
    beside = tuple(value * (1 + number) for number, value in enumerate((*SLOW[:5], 3.3)))
    found = ratio(Sample(drifting), Sample(beside), pairs)
    assert found.p == pytest.approx(stats.binomtest(6, 6).pvalue)


def test_two_groups_are_no_wild_launches() -> None:
    groups = (1.0, 1.01, 0.99, 1.5, 1.51, 1.49)
    assert ratio(Sample(groups), Sample(groups)).left_out == 0


def test_two_of_six_are_a_group_of_their_own() -> None:
    """Whether most launches are like them is not known, so the interval holds that, too."""
    found = ratio(Sample((*A[:4], 3.0, 3.1)), Sample(A))
    assert found.left_out == 0
    assert found.estimate.low < 0.7


def test_of_few_launches_none_is_left_out() -> None:
    assert ratio(Sample((1.0, 1.01, 0.99, 1.0, 3.0)), Sample(A)).left_out == 0


@pytest.mark.parametrize("one_by_one", [True, False])
@pytest.mark.parametrize(("distance", "left_out"), [(0.0399, 0), (0.0401, 1), (-0.0401, 1)])
def test_a_launch_lies_far_at_four_times_the_distance_of_the_others(
    distance: float, left_out: int, one_by_one: bool
) -> None:
    """The others lie at most 0.01 from the median, as logarithms: here and on the other side."""
    last = math.exp(distance)
    near = tuple(math.exp(log) for log in (-0.01, 0.0, 0.0, 0.0, 0.01))
    even = (1.0,) * 6
    if one_by_one:
        found = ratio(Sample(even), Sample((*near, last)), [(i, i) for i in range(6)])
    else:
        found = ratio(Sample((*near, 1.0)), Sample((*near, last)))
    assert found.left_out == left_out


def test_a_launch_is_not_far_within_what_each_knows_of_itself() -> None:
    """Four times 0.02, which is what a 95 % interval of ±0.0392 means."""
    even = (1.0,) * 5
    near, far = (Sample((*even, math.exp(log)), own_error=0.0392) for log in (0.0799, 0.0801))
    assert ratio(Sample((*even, 1.0)), near).left_out == 0
    assert ratio(Sample((*even, 1.0)), far).left_out == 1


@pytest.mark.parametrize(
    ("count", "far", "left_out"), [(12, 2, 2), (12, 3, 0), (11, 1, 1), (11, 2, 0)]
)
def test_one_in_six_launches_may_be_left_out(count: int, far: int, left_out: int) -> None:
    near = [1 + 0.01 * (n % 3) for n in range(count - far)]
    sample = Sample((*near, *[3.0] * far))
    assert ratio(Sample((1.0,) * count), sample).left_out == left_out


@pytest.mark.parametrize(
    ("count", "far", "left_out"), [(10, 2, 2), (10, 3, 0), (9, 1, 1), (9, 2, 0)]
)
def test_one_in_five_pairs_may_be_left_out(count: int, far: int, left_out: int) -> None:
    near = [1 + 0.01 * (n % 3) for n in range(count - far)]
    pairs = [(n, n) for n in range(count)]
    found = ratio(Sample((1.0,) * count), Sample((*near, *[3.0] * far)), pairs)
    assert found.left_out == left_out
    assert found.freedom == count - left_out - 1
    assert found.launches == count


# --- runs at different times ----------------------------------------------------------------------
MOVING = Sample(A, between_runs=0.05, runs=9), Sample(B, between_runs=0.06, runs=9)


def test_what_runs_of_this_machine_differ_by_counts_where_it_is_more() -> None:
    """The scatter between runs holds the error of the run itself."""
    alone, found = ratio(Sample(A), Sample(B)), ratio(*MOVING)
    assert found.error == pytest.approx(math.hypot(0.05, 0.06))
    assert found.between_runs == pytest.approx(math.sqrt(found.error**2 - alone.error**2))
    assert found.estimate.low < alone.estimate.low < alone.estimate.high < found.estimate.high
    quiet = Sample(A, between_runs=1e-6, runs=9), Sample(B, between_runs=1e-6, runs=9)
    assert ratio(*quiet).error == alone.error


def test_launches_in_turn_met_the_same_machine() -> None:
    pairs = [(i, i) for i in range(6)]
    assert ratio(*MOVING, pairs) == ratio(Sample(A), Sample(B), pairs)


def test_more_launches_do_not_take_that_away() -> None:
    found = ratio(*MOVING)
    assert found.with_launches(10**6).error == pytest.approx(found.between_runs, rel=1e-4)


def test_more_launches_narrow_only_what_they_scatter() -> None:
    found = ratio(*MOVING)
    more = found.with_launches(24)
    within = found.error**2 - found.between_runs**2
    assert more.error**2 == pytest.approx(found.between_runs**2 + within / 4)
    assert more.freedom == pytest.approx(found.freedom * 23 / 5)
    assert (more.launches, more.between_runs) == (24, found.between_runs)


@pytest.mark.parametrize(("runs", "counted"), [(9, 9), (LEAST_RUNS, LEAST_RUNS), (1, LEAST_RUNS)])
def test_degrees_of_freedom_are_those_of_four_variances(runs: int, counted: int) -> None:
    """Of F. E. Satterthwaite: the launches of either side, and what runs differ by beyond them."""
    first, second = (replace(each, runs=runs) for each in MOVING)
    of_a, of_b = (np.var(logs(each), ddof=1) / len(each) for each in (A, B))
    parts = [(of_a, 5), (of_b, 6), (0.05**2 - of_a, counted - 1), (0.06**2 - of_b, counted - 1)]
    freedom = sum(v for v, _ in parts) ** 2 / sum(v**2 / f for v, f in parts)
    assert ratio(first, second).freedom == pytest.approx(freedom)


# --- verdicts ------------------------------------------------------------------------------------
@pytest.mark.parametrize("middle", [None, 0.02, -0.02])
def test_an_interval_lies_within_some_room(middle: float | None) -> None:
    """Whether it misses the room's nearer end with at most this probability."""
    found = Ratio(0.01, 0.01, 10.0, 6, middle=middle)
    nearer = 0.05 - abs(0.01 if middle is None else middle)
    misses = 2 * stats.t.sf(nearer / 0.01, 10.0)
    assert found.is_within(0.05, misses * 1.001)
    assert not found.is_within(0.05, misses * 0.999)
    assert not found.is_within(0.01, 1.0)
    assert not replace(found, log=0.05).is_within(0.05, 1.0)


def test_an_interval_leaves_no_difference_out() -> None:
    found = Ratio(0.02, 0.01, 10.0, 6)
    misses = 2 * stats.t.sf(2, 10.0)
    assert found.differs(misses * 1.001)
    assert not found.differs(misses * 0.999)
    assert replace(found, log=-0.02).differs(misses * 1.001)
    assert not replace(found, middle=-0.02).differs(1.0)  # it and the ratio point apart
    assert not replace(found, error=math.nan).differs(1.0)


def test_the_interval_is_stretched_to_the_ratio_that_is_printed() -> None:
    half = float(stats.t.ppf(0.975, 10.0)) * 0.01
    for log, ends in ((0.02, (0.02 - half, 0.02 + half)), (0.1, (0.02 - half, 0.1)),
                      (-0.1, (-0.1, 0.02 + half))):  # fmt: skip
        found = Ratio(log, 0.01, 10.0, 6, middle=0.02)
        assert found.ends(0.05) == pytest.approx(ends)
        assert found.estimate == pytest.approx((math.exp(log), *map(math.exp, ends)))
        assert found.p == pytest.approx(2 * stats.t.sf(2, 10.0))
    assert replace(found, least_p=0.5).p == 0.5


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
