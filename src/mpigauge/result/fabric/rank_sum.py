# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Deviations of values from the others of their block, and the probability of a sum of ranks."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.intp]
    Mask = npt.NDArray[np.bool_]

LEVELS = 256
"""The number of steps of a rank, whose sums are counted exactly."""
_MOST_EXACT = 200
"""The sum of more ranks counts as normal; the tail of the normal one is then the heavier one."""


def middle_of(values: Floats) -> float:
    """The median of a few values, for which NumPy's own takes twenty times as long."""
    ordered, count = np.sort(values), len(values)
    return float(ordered[(count - 1) // 2] + ordered[count // 2]) / 2


def median_by_block(values: Floats, block: Ints, blocks: int) -> Floats:
    """The median of each block, from 0 to `blocks`; NaN: it has no value."""
    order = np.lexsort((values, block))
    ordered = values[order]
    counts = np.bincount(block, minlength=blocks)
    starts = np.cumsum(counts) - counts
    medians = np.full(blocks, np.nan)
    some = counts > 0
    low, high = starts + (counts - 1) // 2, starts + counts // 2
    medians[some] = (ordered[low[some]] + ordered[high[some]]) / 2
    return medians


def from_others(values: Floats, block: Ints) -> Floats:
    """Each value less the median of the others of its block; NaN: it has no others."""
    if not len(values):
        return np.empty(0)
    order = np.lexsort((values, block))
    ordered, blocks = values[order], block[order]
    counts = np.bincount(block)
    start = (np.cumsum(counts) - counts)[blocks]
    place, others = np.arange(len(values)) - start, counts[blocks] - 1
    low, high = (others - 1) // 2, others // 2
    low, high = (start + each + (each >= place) for each in (low, high))
    lonely = others < 1
    low[lonely] = high[lonely] = 0
    deviations = np.empty(len(values))
    deviations[order] = np.where(lonely, np.nan, ordered - (ordered[low] + ordered[high]) / 2)
    return deviations


def lower_tail(ranks: Floats, levels: int, widening: float = 1.0) -> float:
    """The probability that as many uniform ranks have a sum as small.

    `ranks`: above 0, up to 1. `levels`: the number of values that a rank can have. `widening`: the
    standard deviation of the sum relative to that of independent ranks.
    """
    count = len(ranks)
    if not count:
        return 1.0
    steps = np.clip(np.ceil(ranks * levels - 1e-9), 1, levels)
    middle = count * (levels + 1) / 2
    total = middle + (float(steps.sum()) - middle) / widening
    if count > _MOST_EXACT:
        deviation = math.sqrt(count * (levels**2 - 1) / 12)
        return 0.5 * math.erfc((middle - total) / deviation / math.sqrt(2))
    place = min(math.ceil(total - 1e-9) - count, count * (levels - 1))
    return float(_sums(count, levels)[max(place, 0)])


@lru_cache(maxsize=1024)
def _sums(count: int, levels: int) -> Floats:
    """The probabilities that `count` steps from 1 to `levels` have a sum of at most `count`,
    `count` + 1, …"""
    each = np.array([1.0])
    for _ in range(count):
        whole = np.cumsum(np.concatenate((each, np.zeros(levels - 1))))
        whole[levels:] -= whole[:-levels].copy()
        each = np.maximum(whole, 0.0) / levels
    below: Floats = np.minimum(np.cumsum(each), 1.0)
    return below


def at_least(hits: int, count: int, share: float) -> float:
    """The probability that at least `hits` of `count` independent events happen, each of which does
    so with the probability `share`."""
    if hits <= 0:
        return 1.0
    if not 0 < share < 1:
        return float(share >= 1)
    log, rest = math.log(share), math.log1p(-share)
    terms = []
    for k in range(hits, count + 1):
        ways = math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1)
        terms.append(math.exp(ways + k * log + (count - k) * rest))
    return min(math.fsum(terms), 1.0)
