# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The network of a run: shares of what pairs reach alone, hot spots, impacts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from mpigauge.model.record import Matching
from mpigauge.result.document import document
from mpigauge.result.fabric.fabric import RANDOM, Fabric, fabric_of
from mpigauge.result.fabric.impact import AGGRESSORS, CONTROL
from mpigauge.result.fabric.matchings import of_hosts, pairings
from mpigauge.runs.store import load
from tests import fabrics, runs

if TYPE_CHECKING:
    from pathlib import Path

RELATIVE = 0.02


def seen(folder: Path) -> Fabric:
    stored = load(folder)
    found = fabric_of(stored, document(stored).rows)
    assert found is not None
    return found


def test_pairs_without_a_fault_reach_what_they_reach_alone(tmp_path: Path) -> None:
    pairing = seen(fabrics.run(tmp_path / "run")).pairing(RANDOM)
    assert pairing is not None
    assert len(pairing.compared) == fabrics.ROUNDS
    assert pairing.share is not None
    assert pairing.share.low <= 1 <= pairing.share.high
    assert pairing.total is not None
    usual = 4 * 2 * fabrics.MEBIBYTE / fabrics.USUAL_S
    assert pairing.total.value == pytest.approx(usual, rel=RELATIVE)


def test_a_narrow_network_leaves_a_share(tmp_path: Path) -> None:
    pairing = seen(fabrics.run(tmp_path / "run", together=lambda _: 0.4)).pairing(RANDOM)
    assert pairing is not None
    assert pairing.share is not None
    assert pairing.share.value == pytest.approx(0.4, rel=RELATIVE)
    assert pairing.worst is not None
    assert pairing.worst.share <= pairing.share.value


def test_a_slow_host_that_is_as_slow_alone_takes_nothing_from_the_share(tmp_path: Path) -> None:
    slow = dict.fromkeys(range(1), 0.5)
    speed = lambda pair: min(slow.get(host, 1.0) for host in pair)  # noqa: E731
    pairing = seen(fabrics.run(tmp_path / "run", speed, speed)).pairing(RANDOM)
    assert pairing is not None
    assert pairing.share is not None
    assert pairing.share.value == pytest.approx(1, rel=RELATIVE)


def test_ranks_of_two_hosts_add_up() -> None:
    times = of_hosts([0, 6, 1, 7, 2, 4, 3, 5], [1000, 1000, 2000, 2000], 500, lanes=2)
    assert times == {(0, 3): pytest.approx(2e9), (1, 2): pytest.approx(1e9)}


def test_the_warm_up_counts_where_there_is_nothing_else(tmp_path: Path) -> None:
    lines = [
        runs.launch(),
        *(fabrics.matching(name, 0, [(0, 1)], [1e-3]) for name in (RANDOM, f"{RANDOM}_alone")),
    ]
    stored = load(runs.write(tmp_path / "run", lines))
    (pairing,) = pairings(stored.of(Matching), 1)
    assert [each.number for each in pairing.compared] == [0]


def test_a_hot_spot_collapses_where_its_total_halves(tmp_path: Path) -> None:
    to_one, from_one = seen(fabrics.run(tmp_path / "run")).hot_spots
    assert [hosts for hosts, _ in to_one.totals] == [1, 2, 4]
    assert (to_one.best[0], to_one.falls_at) == (1, 4)
    assert from_one.falls_at is None


def test_the_impact_of_aggressors_is_a_ratio_with_an_interval(tmp_path: Path) -> None:
    impacts = {each.aggressor: each for each in seen(fabrics.run(tmp_path / "run")).impacts}
    assert list(impacts) == list(AGGRESSORS)
    for name, each in impacts.items():
        expected = 1 if name == CONTROL else 2
        assert each.median.low <= each.median.value <= each.median.high
        assert each.median.value == pytest.approx(expected, rel=RELATIVE)
        assert each.tail.value == pytest.approx(expected, rel=RELATIVE)
        assert each.visits == fabrics.ROUNDS
        assert math.isnan(each.aggressors_bytes_per_s) == (name == CONTROL)
        assert not each.is_stopped


def test_aggressors_that_stop_early_do_not_count(tmp_path: Path) -> None:
    impacts = seen(fabrics.run(tmp_path / "run", stopped="put")).impacts
    assert [each.aggressor for each in impacts if each.is_stopped] == ["put"]


def test_a_run_without_the_suite_has_no_network(tmp_path: Path) -> None:
    stored = load(runs.write(tmp_path / "run"))
    assert fabric_of(stored, document(stored).rows) is None


def test_a_pair_of_hosts_without_the_time_of_a_rank_is_left_out() -> None:
    ranks = [0, 2, 1, 3, 4, 6, 5, 7]
    assert of_hosts(ranks, [1000, 1000, 0, 1000], 8, 2) == {(0, 1): pytest.approx(32e6)}
