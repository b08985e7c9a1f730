# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plan of `mpigauge fabric`, and what it refuses before anything is launched."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from mpigauge.cli.main import run as mpigauge
from mpigauge.measuring.plan import Resources, read_request
from mpigauge.model.errors import UserError
from mpigauge.model.stored_cards import all_cards
from mpigauge.products.fabric.plan import (
    check_hosts,
    fabric_plan,
    growing,
    order_by_group,
)
from mpigauge.site import topology
from mpigauge.site.placement import HostResources
from tests.unit.measuring.plan.test_plan import MPICH
from tests.unit.products.node.test_node import MACHINES

if TYPE_CHECKING:
    from pathlib import Path

    from mpigauge.measuring.plan.plan import Plan

HOSTS = tuple(f"n{place}" for place in range(8))


def plan(
    hosts: tuple[str, ...] = HOSTS, ppn: int | None = 1, groups: tuple[int, ...] = (), **asked: Any
) -> Plan:
    machine = topology.built(MACHINES / "epyc-rome-2s-nps4.xml")
    sites = tuple(HostResources(name, replace(machine, hostname=name)) for name in hosts)
    resources = Resources(machine, sites, ppn)
    return fabric_plan(read_request(asked), all_cards(), resources, MPICH, groups=groups)


def test_pairs_hot_spots_and_victims_have_a_launch_each() -> None:
    made = plan()
    pairs, spots, victims = made.parts
    assert {part.world_ranks for part in made.parts} == {8}
    assert (pairs.ranks, spots.ranks, victims.ranks) == ((8,), (2, 3, 5, 8), (8,))
    assert spots.benchmarks == ("FABRIC:Many_to_one", "FABRIC:One_to_many")
    assert "FABRIC:Ring_alltoall" in victims.benchmarks
    assert (made.launches, made.use_all, made.seconds) == (1, True, 60)
    assert pairs.suite_options == {"host-ranks": "1"}
    assert victims.suite_options == {"host-ranks": "1", "aggressors": "50"}
    assert {part.sizes for part in made.parts} == {(1 << 20,)}


def test_long_messages_have_one_size() -> None:
    assert {part.sizes for part in plan(sizes="64Ki").parts} == {(64 << 10,)}
    for sizes in ("8", "64Ki,1Mi"):
        with pytest.raises(UserError, match="--sizes: fabric has one size of long messages"):
            plan(sizes=sizes)


def test_the_time_is_the_users() -> None:
    assert plan(seconds="30s").seconds == 30


def test_ranks_of_one_host_follow_each_other() -> None:
    made = plan(ppn=4)
    assert [block.ranks for block in made.parts[0].blocks] == [4] * 8
    assert made.parts[0].suite_options["host-ranks"] == "4"
    assert made.parts[1].ranks == (8, 12, 20, 32)


def test_halves_are_of_whole_groups() -> None:
    made = plan(groups=(0, 1, 0, 1, 0, 1, 0, 1))
    assert made.parts[0].suite_options["host-order"] == "0,2,4,6,1,3,5,7"
    assert "FABRIC:Bisection_groups" in made.parts[0].benchmarks
    assert "FABRIC:Bisection_groups" not in plan().parts[0].benchmarks
    assert order_by_group((1, 0, 1)) == (1, 0, 2)


def test_victims_need_four_hosts() -> None:
    assert not any("Ring" in name for name in plan(HOSTS[:3]).benchmarks)
    assert any("Ring" in name for name in plan(HOSTS[:5]).benchmarks)


def test_every_planned_benchmark_exists() -> None:
    made = plan(groups=(0,) * 8)
    names = {card.word for card in all_cards().benchmarks if card.suite == "FABRIC"}
    assert set(made.benchmarks) == names


@pytest.mark.parametrize(
    ("most", "numbers"), [(1, (1,)), (2, (1, 2)), (7, (1, 2, 4, 7)), (8, (1, 2, 4, 8))]
)
def test_numbers_of_hosts_double(most: int, numbers: tuple[int, ...]) -> None:
    assert growing(most) == numbers


def test_one_host_has_no_network() -> None:
    with pytest.raises(UserError, match="only a is named; name two or more with --hosts"):
        check_hosts(["a"])
    with pytest.raises(UserError, match="none are named"):
        check_hosts([])


@pytest.mark.parametrize("text", ["0", "0%", "100%", "half", "-5%", "5.5%"])
def test_shares_of_hosts_are_percentages(text: str) -> None:
    with pytest.raises(UserError, match="from 1% to 99%"):
        plan(aggressors=text)


def test_a_percent_sign_may_be_missing() -> None:
    for text in ("25%", "25", " 25 % "):
        assert plan(aggressors=text).parts[2].suite_options["aggressors"] == "25"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "none are named"),
        (("--hosts", "a"), "only a is named"),
        (("--hosts", "a,b", "--aggressors", "all"), "--aggressors: 'all'"),
        (("--hosts", "a,b", "--groups", "nope"), "--groups: there is no file nope"),
        (("--hosts", "a,b", "--groups", "overlap"), "host a is in"),
        (("--hosts", "a,b", "--groups", "few"), "no group has b"),
    ],
)
def test_wrong_words_are_refused_before_anything_starts(
    words: tuple[str, ...],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "overlap").write_text("x: a\ny: a,b\n")
    (tmp_path / "few").write_text("x: a\n")
    assert mpigauge(["fabric", *words]) == 2
    assert sentence in capsys.readouterr().err
