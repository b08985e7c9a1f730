# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""One ratio of many numbers: its point, what launches tell of its error, and what is missing."""

from __future__ import annotations

import math
from random import Random
from statistics import median

import pytest

from mpigauge.result.stats.joint_ratio import SideValue, ratio_of_all
from mpigauge.result.stats.ratio import UNKNOWN, Sample, ratio

LAUNCHES = tuple(range(6))


def number(seed: int, level: float, moved: dict[int, float] | None = None) -> SideValue:
    """Six launches that scatter by 1 %; some of them are moved."""
    random = Random(seed)
    values = [level * random.gauss(1, 0.01) * (moved or {}).get(n, 1.0) for n in LAUNCHES]
    return SideValue(Sample(tuple(values)), LAUNCHES)


def without(known: SideValue, launch: int) -> SideValue:
    kept = [n for n in known.launches if n != launch]
    return SideValue(Sample(tuple(known.sample.values[n] for n in kept)), tuple(kept))


def test_of_one_number_it_is_the_ratio_of_that() -> None:
    a, b = number(1, 1.0), number(2, 3.0)
    one, found = ratio(a.sample, b.sample), ratio_of_all([(a, b)], {}, {})
    assert found.estimate == pytest.approx(one.estimate)
    assert found.p == pytest.approx(one.p)


def test_it_is_the_geometric_mean_of_the_ratios() -> None:
    pairs = [(number(n, 10.0**n), number(n + 9, factor * 10.0**n)) for n, factor in
             enumerate((1.0, 2.0, 4.0))]  # fmt: skip
    single = [ratio(a.sample, b.sample).log for a, b in pairs]
    found = ratio_of_all(pairs, {}, {})
    assert found.log == pytest.approx(sum(single) / 3)
    assert found.estimate.value == pytest.approx(2.0, rel=0.02)
    low, high = found.estimate[1:]
    assert 1.9 < low < 2.0 < high < 2.1


def test_independent_numbers_are_more_certain_together_and_those_that_move_together_not() -> None:
    moved = {1: 1.1, 4: 0.9}
    for moves, most in (({}, 0.5), (moved, 1.1)):
        pairs = [(number(n, 1.0, moves), number(n + 99, 1.0, moves)) for n in range(16)]
        single = median(ratio(a.sample, b.sample).error for a, b in pairs)
        together = ratio_of_all(pairs, {}, {}).error
        assert together < most * single
        if moves:
            assert together > 0.9 * single


def test_a_number_that_a_launch_has_not_moves_nothing() -> None:
    """Numbers have different ratios, so a launch with only some of them must not stand out."""
    pairs = [(number(n, 1.0), number(n + 9, 1.0 + n)) for n in range(6)]
    whole = ratio_of_all(pairs, {}, {})
    pairs[5] = pairs[5][0], without(pairs[5][1], 2)
    found = ratio_of_all(pairs, {}, {})
    assert found.launches == 6
    assert found.error == pytest.approx(whole.error, rel=0.3)


def test_a_launch_with_few_of_the_numbers_does_not_count() -> None:
    pairs = [(number(n, 1.0), number(n + 9, 1.0)) for n in range(6)]
    few = [(a, without(b, 2)) for a, b in pairs[:4]] + pairs[4:]
    assert ratio_of_all(few, {}, {}).launches == 5


def test_launches_in_turn_are_paired() -> None:
    pairs = [(number(n, 1.0), number(n + 9, 1.0)) for n in range(6)]
    first, second = ({n: f"{n} {side}" for n in LAUNCHES} for side in "AB")
    assert ratio_of_all(pairs, first, second).paired
    assert not ratio_of_all(pairs, first, {n: f"9{n} B" for n in LAUNCHES}).paired


def test_runs_of_a_machine_differ_alike_at_all_sizes() -> None:
    def known(seed: int) -> SideValue:
        sample = number(seed, 1.0).sample
        return SideValue(Sample(sample.values, between_runs=0.1, runs=9), LAUNCHES)

    pairs = [(known(n), known(n + 99)) for n in range(16)]
    assert ratio_of_all(pairs, {}, {}).error == pytest.approx(0.1 * math.sqrt(2), rel=0.01)


def test_what_is_not_positive_has_no_ratio() -> None:
    zero = SideValue(Sample((0.0,) * 6), LAUNCHES)
    assert ratio_of_all([(zero, number(1, 1.0)), (number(2, 1.0),) * 2], {}, {}) == UNKNOWN
