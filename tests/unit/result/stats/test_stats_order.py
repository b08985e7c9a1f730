# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.result.stats.order import LOOKS, fixed_order, median, median_interval, running_order


def coverage(n: int, k: int) -> float:
    from scipy.stats import binom

    return 1 - 2 * float(binom.cdf(k - 1, n, 0.5))


@pytest.mark.parametrize("n", range(6, 200))
def test_fixed_order_is_the_largest_that_reaches_the_level(n: int) -> None:
    k = fixed_order(n)
    assert coverage(n, k) >= 0.95 - 1e-12
    assert coverage(n, k + 1) < 0.95


def test_five_values_give_no_interval() -> None:
    assert [fixed_order(n) for n in range(1, 7)] == [0, 0, 0, 0, 0, 1]
    assert [running_order(n) for n in range(1, 7)] == [0, 0, 0, 0, 0, 1]


def test_very_many_values_take_a_bound() -> None:
    assert 0 < fixed_order(501) <= fixed_order(500)
    assert coverage(10_000, fixed_order(10_000)) >= 0.95


@pytest.mark.parametrize("n", [6, 9, 12, 20, 50])
def test_running_order_cuts_off_no_more_than_the_fixed_one(n: int) -> None:
    assert running_order(n) <= fixed_order(n)


def test_looks_cut_off_one_more_each_and_launches_between_them_do_not() -> None:
    assert [running_order(n) for n in LOOKS[:5]] == [1, 2, 3, 4, 7]
    assert [running_order(n) for n in (7, 8, 9)] == [1, 1, 1]
    orders = [running_order(n) for n in range(200)]
    assert orders == sorted(orders)


@pytest.mark.parametrize("last", [8, 12, 17, 23])
def test_running_order_holds_where_a_budget_ends_between_two_looks(last: int) -> None:
    """Exactly, over all ways that the values can fall: looks, then the number it ends with."""
    inside, left = {0: 1.0}, 0.0
    for n in range(1, last + 1):
        after: dict[int, float] = {}
        for count, share in inside.items():
            for following in (count, count + 1):
                after[following] = after.get(following, 0.0) + share / 2
        inside = after
        if n in LOOKS or n == last:
            k = max(running_order(n), 0)
            out = [count for count in inside if not k <= count <= n - k]
            left += sum(inside.pop(count) for count in out)
    assert left <= 0.05 + 1e-12


def test_running_order_holds_at_whichever_look_one_stops() -> None:
    """All looks at once: no more than 5 % of walks are ever outside."""
    import numpy as np

    random = np.random.default_rng(20261121)
    below = np.cumsum(random.random((20_000, 100)) < 0.5, axis=1)
    n = np.array([look for look in LOOKS if look <= 100])
    below = below[:, n - 1]
    looks = {rule: np.array([rule(int(i)) for i in n]) for rule in (running_order, fixed_order)}
    missed = {
        rule: float(((below < k) | (below > n - k)).any(axis=1).mean()) for rule, k in looks.items()
    }
    assert missed[running_order] <= 0.052
    assert missed[fixed_order] > 0.1


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.integers(0, 3))
def test_the_median_lies_in_its_interval(values: list[float], order: int) -> None:
    low, high = median_interval(values, min(order, len(values) // 2))
    assert low <= median(values) <= high


def test_interval_counts_from_both_ends() -> None:
    assert median_interval([5, 1, 4, 2, 3], 0) == (1, 5)
    assert median_interval([5, 1, 4, 2, 3], 2) == (2, 4)
