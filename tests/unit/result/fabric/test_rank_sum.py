# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The probability that some values of a block are the low ones."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from mpigauge.result.fabric import rank_sum
from mpigauge.result.fabric.rank_sum import at_least_drawn, lower_tail_in_blocks


def higher(inside: tuple[int, ...], count: int) -> int:
    """The pairs whose value inside is the higher one, if values are their places."""
    return sum(other < own for own in inside for other in set(range(count)) - set(inside))


@pytest.mark.parametrize("blocks", [((2, 2),), ((1, 3), (2, 2)), ((3, 4), (1, 1), (2, 0), (0, 3))])
def test_it_is_the_share_of_all_choices_with_as_low_a_sum(
    blocks: tuple[tuple[int, int], ...],
) -> None:
    """`blocks`: the numbers of values inside and outside of the set."""
    counts = [own + others for own, others in blocks]
    choices = [list(combinations(range(sum(each)), each[0])) for each in blocks]
    sums = [
        sum(map(higher, chosen, counts)) for chosen in product(*choices)
    ]  # fmt: skip
    block = np.repeat(np.arange(len(counts)), counts)
    values = np.concatenate([np.arange(count, dtype=float) for count in counts])
    for chosen, own in zip(product(*choices), sums, strict=True):
        kinds = zip(counts, chosen, strict=True)
        inside = np.concatenate([np.isin(range(count), places) for count, places in kinds])
        expected = np.mean([each <= own for each in sums])
        assert lower_tail_in_blocks(values, block, inside) == pytest.approx(expected)


def test_equal_values_count_as_higher() -> None:
    block, inside = np.zeros(4, dtype=np.intp), np.array([True, True, False, False])
    assert lower_tail_in_blocks(np.ones(4), block, inside) == pytest.approx(1)


def test_many_pairs_count_as_normal_whose_tail_is_the_heavier_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = np.random.default_rng(3)
    block = np.repeat(np.arange(20), 16).astype(np.intp)
    inside = np.tile(np.arange(16) < 8, 20)
    normal = random.normal(size=len(block))
    for shift in (0.0, -0.1, -0.5, -1.0):
        values = normal + shift * inside
        exact = lower_tail_in_blocks(values, block, inside)
        monkeypatch.setattr(rank_sum, "_MOST_PAIRS", 0)
        approximate = lower_tail_in_blocks(values, block, inside)
        monkeypatch.undo()
        assert (
            approximate == pytest.approx(exact, rel=0.01) if exact > 0.01 else approximate > exact
        )


@pytest.mark.parametrize(("count", "marked", "drawn"), [(7, 3, 4), (6, 6, 2), (5, 0, 3), (8, 2, 8)])
def test_marked_ones_are_drawn_as_often_as_among_all_choices(
    count: int, marked: int, drawn: int
) -> None:
    choices = list(combinations(range(count), drawn))
    for hits in range(drawn + 1):
        as_many = sum(sum(place < marked for place in of) >= hits for of in choices)
        assert at_least_drawn(hits, drawn, marked, count) == pytest.approx(as_many / len(choices))
