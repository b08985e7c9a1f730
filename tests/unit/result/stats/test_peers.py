# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Which pairs and ranks stand out from their peers, on times that are known."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from mpigauge.model.row import Estimate
from mpigauge.result.stats.peers import RankPair, clusters, odd_ones, odd_pairs, odd_ranks

LEVELS = ("l3", "node")
TIMES = {"l3": 0.2e-6, "node": 0.7e-6}
TRIALS = 200


def estimate(value: float, error: float = 0.01) -> Estimate:
    return Estimate(value, value * (1 - error), value * (1 + error))


def matrix(
    ranks: int, rng: random.Random, slow: dict[tuple[int, int], float] | None = None
) -> list[RankPair]:
    """Two sockets' worth of ranks; times scatter by 2 %."""
    pairs = []
    for a, b in combinations(range(ranks), 2):
        level = "l3" if a // (ranks // 2) == b // (ranks // 2) else "node"
        factor = (slow or {}).get((a, b), 1.0) * rng.gauss(1, 0.02)
        pairs.append(RankPair(a, b, level, estimate(TIMES[level] * factor)))
    return pairs


def test_levels_are_kept_apart_in_their_order() -> None:
    found = clusters(matrix(8, random.Random(1)), LEVELS)
    assert [(each.level, len(each.pairs)) for each in found] == [("l3", 12), ("node", 16)]
    for each in found:
        assert each.median_s == pytest.approx(TIMES[each.level], rel=0.03)
        assert each.error_s == pytest.approx(0.01 * each.median_s, rel=0.05)


def test_quiet_machines_have_nothing_odd() -> None:
    """In all trials together: 200 matrices of 120 pairs."""
    accused = sum(
        bool(odd_pairs(clusters(matrix(16, random.Random(seed)), LEVELS))) for seed in range(TRIALS)
    )
    assert accused <= TRIALS * 0.02


@pytest.mark.parametrize("factor", [1.2, 1.5, 10.0])
def test_a_slow_pair_is_found_and_nobody_else(factor: float) -> None:
    hits = 0
    for seed in range(TRIALS):
        found = clusters(matrix(16, random.Random(seed), {(2, 5): factor}), LEVELS)
        odd = odd_pairs(found)
        hits += [each.pair[:2] for each in odd] == [(2, 5)]
        assert odd_ranks(found) == ()
    assert hits >= TRIALS * 0.9


def test_a_slow_rank_is_told_from_a_slow_pair() -> None:
    slow = {(a, b): 1.3 for a, b in combinations(range(16), 2) if 9 in (a, b)}
    for seed in range(TRIALS):
        (odd,) = odd_ranks(clusters(matrix(16, random.Random(seed), slow), LEVELS))
        assert odd.rank == 9
        assert odd.ratio == pytest.approx(1.3, rel=0.05)


def test_fast_ones_are_not_accused() -> None:
    found = clusters(matrix(16, random.Random(3), {(2, 5): 0.3}), LEVELS)
    assert odd_pairs(found) == ()


def test_what_differs_by_less_than_it_is_known_to_is_no_oddity() -> None:
    wide = [RankPair(0, n, "l3", estimate(1e-6, 0.2)) for n in range(1, 9)]
    late = RankPair(0, 9, "l3", estimate(1.5e-6, 0.2))
    assert odd_pairs(clusters([*wide, late], LEVELS)) == ()
    assert odd_pairs(clusters([*wide, late._replace(time=estimate(4e-6, 0.1))], LEVELS))


def test_few_peers_judge_nobody() -> None:
    pairs = [RankPair(0, 1, "l3", estimate(1e-6)), RankPair(0, 2, "l3", estimate(9e-6))]
    assert odd_pairs(clusters(pairs, LEVELS)) == ()
    assert odd_ranks(clusters(pairs, LEVELS)) == ()


# --- in what order, and from where on -------------------------------------------------------------
def times(*values: float, error: float = 0.001) -> dict[str, Estimate]:
    """Peers that take about as long as each other, and these."""
    usual = {f"peer{n}": estimate(1.0 + 0.001 * (n % 3), error) for n in range(12)}
    return usual | {f"odd{n}": estimate(value, error) for n, value in enumerate(values)}


def test_the_worst_comes_first() -> None:
    found = odd_ones(times(1.5, 3.0, 2.0))
    assert [each.name for each in found] == ["odd1", "odd2", "odd0"]
    assert [each.ratio for each in found] == pytest.approx([3.0, 2.0, 1.5], rel=0.01)
    slow = {(2, 5): 2.0, (0, 1): 1.5, (6, 7): 3.0}
    pairs = odd_pairs(clusters(matrix(16, random.Random(1), slow), LEVELS))
    assert [each.pair[:2] for each in pairs] == [(6, 7), (2, 5), (0, 1)]
    bad = {(a, b): max(2.0 * (3 in (a, b)), 1.4 * (9 in (a, b)), 1.0)
           for a, b in combinations(range(16), 2)}  # fmt: skip
    ranks = odd_ranks(clusters(matrix(16, random.Random(1), bad), LEVELS))
    assert [each.rank for each in ranks] == [3, 9]


def test_few_peers_do_not_tell_what_is_usual() -> None:
    enough = dict([*times(2.0).items()][-5:])
    assert [each.name for each in odd_ones(enough)] == ["odd0"]
    assert odd_ones(dict([*enough.items()][1:])) == ()


@pytest.mark.parametrize(("value", "is_odd"), [(1.0499, False), (1.0501, True)])
def test_from_which_ratio_on_a_peer_stands_out(value: float, is_odd: bool) -> None:
    """Of peers that are all alike and exact."""
    same = {f"peer{n}": Estimate(1.0, 1.0, 1.0) for n in range(12)}
    found = odd_ones(same | {"odd": Estimate(value, value, value)})
    assert bool(found) == is_odd


@pytest.mark.parametrize(("share", "is_odd"), [(0.98, False), (1.02, True)])
def test_how_uncertain_a_peer_may_be_that_stands_out(share: float, is_odd: bool) -> None:
    """Its distance is five times its own error, half of its interval."""
    same = {f"peer{n}": Estimate(1.0, 1.0, 1.0) for n in range(12)}
    value = 2.0
    error = (value - 1.0) / 5 / share
    found = odd_ones(same | {"odd": Estimate(value, value - error, value + error)})
    assert bool(found) == is_odd
