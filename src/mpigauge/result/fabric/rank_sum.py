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
_MOST_PAIRS = 2000
"""A statistic of more pairs counts as normal; the tail of the normal one is the heavier one."""


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


def lower_tail(ranks: Floats, widening: float = 1.0) -> float:
    """The probability that as many uniform ranks have a sum as small.

    `ranks`: above 0, up to 1. `widening`: the standard deviation of the sum relative to that of
    independent ranks.
    """
    count = len(ranks)
    if not count:
        return 1.0
    steps = np.clip(np.ceil(ranks * LEVELS - 1e-9), 1, LEVELS)
    middle = count * (LEVELS + 1) / 2
    total = middle + (float(steps.sum()) - middle) / widening
    if count > _MOST_EXACT:
        deviation = math.sqrt(count * (LEVELS**2 - 1) / 12)
        return 0.5 * math.erfc((middle - total) / deviation / math.sqrt(2))
    place = min(math.ceil(total - 1e-9) - count, count * (LEVELS - 1))
    return float(_sums(count)[max(place, 0)])


@lru_cache(maxsize=1024)
def _sums(count: int) -> Floats:
    """The probabilities that `count` steps from 1 to LEVELS have a sum of at most `count`,
    `count` + 1, …"""
    each = np.array([1.0])
    for _ in range(count):
        whole = np.cumsum(np.concatenate((each, np.zeros(LEVELS - 1))))
        whole[LEVELS:] -= whole[:-LEVELS].copy()
        each = np.maximum(whole, 0.0) / LEVELS
    below: Floats = np.minimum(np.cumsum(each), 1.0)
    return below


def lower_tail_in_blocks(values: Floats, block: Ints, inside: Mask) -> float:
    """The probability that values of a set are as low among the others of their blocks by chance.

    Without an effect every choice of as many values of a block is equally likely. The statistic is
    the number of pairs, of a value of the set and another one of its block, in which that of the
    set is not the lower one (H. B. Mann and D. R. Whitney, Ann. Math. Stat. 18 (1947) 50), summed
    over blocks.
    """
    blocks = int(block.max(initial=0)) + 1
    ours = np.bincount(block[inside], minlength=blocks)
    others = np.bincount(block[~inside], minlength=blocks)
    order = np.lexsort((inside, values, block))
    outside_so_far = np.cumsum(~inside[order]) - (np.cumsum(others) - others)[block[order]]
    higher = int(outside_so_far[inside[order]].sum())
    pairs = ours * others
    if pairs.sum() <= _MOST_PAIRS:
        sizes, times = np.unique(np.column_stack((ours, others)), axis=0, return_counts=True)
        chances = np.array([1.0])
        for (own, other), of in zip(sizes.tolist(), times.tolist(), strict=True):
            for _ in range(of):
                chances = np.convolve(chances, _higher_pairs(own, other))
        return float(min(chances[: higher + 1].sum(), 1.0))
    deviation = math.sqrt(float((pairs * (ours + others + 1)).sum()) / 12)
    return 0.5 * math.erfc((float(pairs.sum()) / 2 - higher - 0.5) / deviation / math.sqrt(2))


@lru_cache(maxsize=1024)
def _higher_pairs(ours: int, others: int) -> Floats:
    """The probabilities of 0, 1, … pairs whose value of the set is the higher one.

    Their counts are the coefficients of C. F. Gauss's binomial (1811), in exact integers.
    """
    counts = [1] + [0] * (ours * others)
    for step in range(1, ours + 1):
        for at in range(len(counts) - 1, others + step - 1, -1):
            counts[at] -= counts[at - others - step]
        for at in range(step, len(counts)):
            counts[at] += counts[at - step]
    ways = sum(counts)
    return np.array([count / ways for count in counts])


def at_least_drawn(hits: int, drawn: int, marked: int, count: int) -> float:
    """The probability that at least `hits` of `drawn` are marked, if they are drawn at random from
    `count`, of which `marked` are (R. A. Fisher, J. R. Stat. Soc. 98 (1935) 39)."""
    ways = math.comb(count, drawn)
    most = min(drawn, marked)
    return sum(
        math.comb(marked, k) * math.comb(count - marked, drawn - k) / ways
        for k in range(max(hits, 0), most + 1)
    )


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
