# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Intervals of a median from order statistics: no assumption about the shape of the noise.

The number of n independent values below the median of their population is binomial (n, 1/2), so
the interval from the k-th smallest to the k-th largest value misses the median with probability
2 P(B < k) (H. A. David, H. N. Nagaraja, Order Statistics, 3rd edition, section 7.1).

`fixed_order` is the k for a number of values that was settled before looking at any.
`running_order` is the k for values that come one by one while somebody looks at the interval now
and then, and stops when it is narrow enough. Narrow intervals that came by chance are then
favoured, and the fixed k covers too rarely. So there are few looks (LOOKS: at 6, 10, 14, 20 values,
then about 1.4 times as many each), and k is made for them, as group-sequential tests are (S. J.
Pocock, Biometrika 64 (1977) 191), but exactly: the count of values below the median is a random
walk, and k(n) at a look is the largest that keeps the probability that the walk is outside of
k(n) … n - k(n) at this look or at one before within 1 - level. So the statement holds at whatever
look one stops. For 95 % the first five values give no interval (smallest to largest of five covers
93.75 %); k is 1 at 6, 2 at 10, 3 at 14 and 4 at 20.

Between two looks, as where a time budget ends there, k(n) is the largest that keeps the same
probability with this n in place of the next look. At 7, 8 and 9 it still is 1, so such launches can
only widen an interval: a campaign does not stop there, nor does it begin what ends there.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LEVEL = 0.95
LOOKS = (6, 10, 14, 20, 28, 40, 56, 78, 109, 152, 212, 296, 414)
"""Numbers of values after which the interval is looked at."""
ENDS = 1.96
"""Standard deviations from the middle to the ends of a 95 % interval of normal values."""
MAD = 1.4826
"""Median distances in the standard deviation of normal values."""
OF_MEDIAN = 1.2533
"""The standard error of a median of normal values by that of their mean."""
_MOST_EXACT = 500


def median(values: Iterable[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """The first value up to which half of the weight lies; 0 of none."""
    half, reached = sum(weights) / 2, 0.0
    for value, weight in sorted(zip(values, weights, strict=True)):
        reached += weight
        if reached >= half:
            return value
    return 0.0


@lru_cache
def fixed_order(n: int, level: float = LEVEL) -> int:
    """The largest k whose interval reaches the level; 0 where none does.

    Above 500 values it is Hoeffding's bound, which is a little wider, as in the kernels.
    """
    tail, below, ways, k = (1 - level) / 2, 0.0, 1, 0
    if n > _MOST_EXACT:
        return int(n / 2 - math.sqrt(n * math.log(1 / tail) / 2))
    while k <= n // 2 and below + ways / 2**n <= tail:
        below += ways / 2**n
        ways = ways * (n - k) // (k + 1)
        k += 1
    return k


def running_order(n: int, level: float = LEVEL) -> int:
    """The order of an interval that is looked at after each number of values in LOOKS."""
    return running_orders(n, level)[n]


@lru_cache
def running_orders(most: int, level: float = LEVEL) -> tuple[int, ...]:
    """The orders of intervals of 0, 1, … `most` values that are looked at as they come."""
    tail = (1 - level) / 2
    inside = {0: 1.0}  # the walk's distribution over counts, where no look found it outside
    left, orders = 0.0, [0]
    for n in range(1, most + 1):
        inside = _step(inside)
        k, outside = _cut(inside, n, tail - left)
        orders.append(k)
        if n in LOOKS:
            left += outside
            inside = {count: p for count, p in inside.items() if k <= count <= n - k}
    return tuple(orders)


def _cut(inside: dict[int, float], n: int, most: float) -> tuple[int, float]:
    """The largest k below which the walk is with a probability of at most `most`, and that one."""
    k, below = 0, 0.0
    while below + inside.get(k, 0.0) <= most and 2 * (k + 1) <= n:
        below += inside.get(k, 0.0)
        k += 1
    return k, below


def _step(inside: dict[int, float]) -> dict[int, float]:
    after: dict[int, float] = {}
    for count, probability in inside.items():
        for next_count in (count, count + 1):
            after[next_count] = after.get(next_count, 0.0) + probability / 2
    return after


def median_interval(values: Sequence[float], order: int) -> tuple[float, float]:
    """An interval of the median, from the k-th smallest to the k-th largest value; smallest to
    largest for k = 0."""
    ordered = sorted(values)
    k = max(order, 1)
    return ordered[k - 1], ordered[-k]
