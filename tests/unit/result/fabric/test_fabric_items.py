# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The numbers of a network that are compared and limited, and hosts beside their peers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mpigauge.cli.runs.comparing import items_of, sides_of
from mpigauge.result.document import rows_of_run
from mpigauge.result.fabric.blame import Flows
from mpigauge.result.fabric.hosts import host_shares
from mpigauge.result.fabric.items import HOSTS, IMPACT, SHARE, TAIL, TIME, network_items
from mpigauge.runs.store import load
from tests import fabrics, runs

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.result.compare.match.items import Item

RELATIVE = 0.02


def items(folder: Path) -> dict[tuple[str, str], Item]:
    every = [item for item in items_of(load(folder)) if item.row is None]
    return {(item.benchmark, item.what): item for item in every}


def test_rounds_are_the_values_of_shares(tmp_path: Path) -> None:
    folder = fabrics.run(tmp_path / "run", together=lambda _: 0.4)
    share = items(folder)["FABRIC:Permutations", SHARE]
    assert share.value.value == pytest.approx(0.4, rel=RELATIVE)
    assert share.value.low < share.value.value < share.value.high
    assert len(share.sample.values) == fabrics.ROUNDS
    assert (share.unit, share.better, share.repeated) == ("×", "higher", "round")


def test_impacts_have_medians_tails_and_the_time_alone(tmp_path: Path) -> None:
    of = items(fabrics.run(tmp_path / "run", stopped="put"))
    assert of["FABRIC:Ring_incast", IMPACT].value.value == pytest.approx(1.98, rel=RELATIVE)
    tail = of["FABRIC:Ring_incast", TAIL]
    assert tail.value.value == pytest.approx(1.96, rel=RELATIVE)
    assert sorted(tail.sample.values)[fabrics.ROUNDS // 2] == pytest.approx(tail.value.value, 1e-3)
    assert of["FABRIC:Ring", TIME].value.value == pytest.approx(fabrics.USUAL_S, rel=0.03)
    assert ("FABRIC:Ring_put", IMPACT) not in of


def test_hot_spots_have_their_total_bandwidth(tmp_path: Path) -> None:
    stored = load(fabrics.run(tmp_path / "run"))
    spots = [
        item for item in network_items(stored, rows_of_run(stored)) if "_one" in item.benchmark
    ]
    usual = fabrics.MEBIBYTE / fabrics.USUAL_S
    totals = {dict(item.columns)["ranks"]: item.value.value for item in spots}
    assert totals == {
        2: pytest.approx(usual),
        3: pytest.approx(usual / 2),
        5: pytest.approx(usual / 4),
    }
    assert {item.unit for item in spots} == {"B/s"}


def test_a_slow_host_does_not_pull_its_partners_down(tmp_path: Path) -> None:
    slow = lambda pair: 0.5 if 3 in pair else 1.0  # noqa: E731
    of = items(fabrics.run(tmp_path / "run", slow, slow))
    shares = [of[HOSTS, host].value.value for host in fabrics.HOSTS]
    assert shares == pytest.approx([1, 1, 1, 0.5, 1, 1, 1, 1], rel=RELATIVE)
    others = [of[HOSTS, host].sample.values for host in fabrics.HOSTS if host != "n3"]
    assert min(map(min, others)) > 0.9


def test_a_host_that_never_had_another_pair_beside_it_has_no_share() -> None:
    assert not list(host_shares(Flows.of_rounds([[(0, 1, 1e9)]] * 8), ("a", "b")))


def test_times_of_single_calls_are_not_compared(tmp_path: Path) -> None:
    stored = load(fabrics.run(tmp_path / "run"))
    assert any(item.row for item in items_of(stored))
    (side,) = sides_of([stored])
    assert not any(item.row for item in side.items)


def test_other_runs_hold_no_network(tmp_path: Path) -> None:
    stored = load(runs.write(tmp_path / "run"))
    assert network_items(stored, ()) == ()
    (side,) = sides_of([stored])
    assert side.items == items_of(stored)
