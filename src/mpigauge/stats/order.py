# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Intervals of a median from order statistics: no assumption about the shape of the noise.

The number of n independent values below the median of their population is binomial (n, 1/2), so
the interval from the k-th smallest to the k-th largest value misses the median with probability
2 P(B < k) (H. A. David, H. N. Nagaraja, Order Statistics, 3rd edition, section 7.1).

`fixed_order` is the k for a number of values that was settled before looking at any.
`running_order` is the k for values that come one by one while somebody looks at the interval after
each and stops when it is narrow enough. Narrow intervals that came by chance are then favoured,
and the fixed k covers too rarely. The count of values below the median is a random walk; k(n) is
the largest that keeps the probability that the walk *ever* leaves k(n) … n - k(n), at this n or a
smaller one, within 1 - level. So the statement holds at whatever n one stops. For 95 % the first
five values give no interval (smallest to largest of five covers 93.75 %), and from the sixth on it
is smallest to largest up to n = 9, where the fixed rule would already cut one off on each side.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = 0.95
_MOST_EXACT = 500


def median(values: Sequence[float]) -> float:
    ordered, middle = sorted(values), len(values) // 2
    if len(values) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


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
    """The same for an interval that is looked at after every value."""
    return running_orders(n, level)[n]


@lru_cache
def running_orders(most: int, level: float = LEVEL) -> tuple[int, ...]:
    """Of 0, 1, … `most` values."""
    tail = (1 - level) / 2
    inside = {0: 1.0}  # the walk's distribution over counts, where it never left the bounds
    left, k, orders = 0.0, 0, [0]
    for n in range(1, most + 1):
        inside = _step(inside)
        while inside[k] + left <= tail and 2 * (k + 1) <= n:
            left += inside.pop(k)
            del inside[n - k]
            k += 1
        orders.append(k)
    return tuple(orders)


def _step(inside: dict[int, float]) -> dict[int, float]:
    after: dict[int, float] = {}
    for count, probability in inside.items():
        for next_count in (count, count + 1):
            after[next_count] = after.get(next_count, 0.0) + probability / 2
    return after


def median_interval(values: Sequence[float], order: int) -> tuple[float, float]:
    """From the k-th smallest to the k-th largest value; smallest to largest for k = 0."""
    ordered = sorted(values)
    k = max(order, 1)
    return ordered[k - 1], ordered[-k]
