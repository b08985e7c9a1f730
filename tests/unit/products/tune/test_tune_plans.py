# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The plans of a tuning: how often, at which sizes and under which settings each part is measured.

Allreduce and Bcast on a machine of 32 cores, and on two hosts of it; nothing is launched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mpigauge.measuring.plan import Plan, Resources
from mpigauge.measuring.plan.request import Request
from mpigauge.model.call_mix import CallMix, MixedCall
from mpigauge.model.machine import Machine
from mpigauge.model.rules import Rule
from mpigauge.model.topology import Topology
from mpigauge.products.tune.measure.message_runs import Messages, messages_of, settings_plan
from mpigauge.products.tune.measure.messages import ROUNDS, ROUNDS_OF_HALVING, ROUNDS_OF_TRIAL
from mpigauge.products.tune.measure.task import TuningTask
from mpigauge.products.tune.plan import (
    CROWDED_SIZES,
    ODD_RANKS,
    SIZES,
    Arms,
    Where,
    beyond_plan,
    confirm_plan,
    grid_alone_plan,
    grid_plan,
    refine_plan,
    right_alone_plan,
    right_plan,
    screen_plan,
    sizes_to_confirm,
)
from mpigauge.site import topology
from mpigauge.site.placement import HostResources
from tests import asked
from tests.unit.measuring.plan.test_plan import CARDS, MPICH, OPENMPI, card

RING: Arms = (("ring", {"algorithm": "4"}),)
ARMS: Mapping[str, Mapping[int, Arms]] = {"Allreduce": {2: RING, 4: RING}, "Bcast": {2: RING}}
OF_ARMS = [("Allreduce", 2), ("Allreduce", 4), ("Bcast", 2)]
MIX = CallMix(
    profile="app",
    mpi="mpich 5.0.2",
    thread_level="single",
    mpi_s=10.0,
    run_s=20.0,
    calls=(
        MixedCall("Allreduce", 2, 4096, 4000, 4200, 6.0, "float", "band"),
        MixedCall("Allreduce", 2, 8, 8, 16, 2.0, "float", "band"),
        MixedCall("Allreduce", 64, 8, 8, 8, 1.0, "float", "band"),
        MixedCall("Bcast", 2, 64, 64, 64, 1.0),
    ),
    messages=(
        MixedCall("PingPong", 2, 512, 500, 600, 0.5),
        MixedCall("PingPong", 2, 8, 8, 8, 0.25),
    ),
    arrivals={"Allreduce 2": "profile:app=0+1", "Allreduce 64": "profile:app=0+2"},
)


@pytest.fixture(scope="module")
def machine(repository: Path) -> Topology:
    return topology.read(repository / "tests" / "machines" / "epyc-7302-two-sockets.txt")


@pytest.fixture(scope="module")
def here(machine: Topology) -> Where:
    right = [card(f"{name}_right", suite="SELFTEST") for name in ("Allreduce", "Bcast")]
    able = [
        replace(each, options=(*each.options, "arrival")) if each.name == "Allreduce" else each
        for each in CARDS.benchmarks
    ]
    cards = replace(CARDS, benchmarks=(*able, *right))
    return Where(cards, Resources(machine), MPICH)


def on_two_hosts(where: Where, ppn: int | None = None) -> Where:
    machine = where.resources.machine
    hosts = tuple(HostResources(name, replace(machine, hostname=name)) for name in ("a", "b"))
    return replace(where, resources=Resources(machine, hosts, ppn))


def request(**raw: Any) -> Request:
    return asked.request({"data": "fresh"} | raw)


def of_parts(plan: Plan) -> list[tuple[str, int]]:
    return [(part.benchmarks[0], part.world_ranks) for part in plan.parts]


# --- candidates ---------------------------------------------------------------------------------
def test_all_candidates_share_launches_with_the_default_and_a_control(here: Where) -> None:
    plan = grid_plan(request(), ARMS, here)
    assert of_parts(plan) == OF_ARMS
    for part in plan.parts:
        assert part.arms == (("", {}), ("ring", {"algorithm": "4"}), ("control", {}))
        assert part.sizes == SIZES
    assert (plan.launches, plan.shuffle, plan.data) == (6, True, "fresh")


def test_where_the_mpi_reads_settings_at_its_start_each_candidate_has_launches(here: Where) -> None:
    plan = grid_alone_plan(request(), ARMS, here)
    assert of_parts(plan) == [of for of in OF_ARMS for _ in range(3)]
    assert [(part.arm, part.settings) for part in plan.parts[:3]] == [
        ("", {}), ("ring", {"algorithm": "4"}), ("control", {})
    ]  # fmt: skip
    assert (plan.launches, plan.shuffle) == (6, True)


@pytest.mark.parametrize(
    ("raw", "launches"),
    [({"launches": 9}, 9), ({"seconds": "60"}, None), ({"seconds": "60", "launches": 9}, 9)],
)
def test_launches_are_six_unless_a_number_or_a_time_is_given(
    raw: dict[str, Any], launches: int | None, here: Where
) -> None:
    for plan in (grid_plan, grid_alone_plan):
        assert plan(request(**raw), ARMS, here).launches == launches


def test_a_first_look_is_one_launch_of_each_without_a_time(here: Where) -> None:
    plan = screen_plan(grid_plan(request(seconds="60"), ARMS, here))
    assert (plan.launches, plan.seconds) == (1, None)


def test_edges_are_measured_at_their_own_sizes(here: Where) -> None:
    sizes = {of: (16 << place,) for place, of in enumerate(OF_ARMS)}
    plan = refine_plan(request(), ARMS, sizes, here)
    assert [part.sizes for part in plan.parts] == [(16,), (32,), (64,)]
    assert of_parts(plan) == OF_ARMS
    assert all(part.arms[1] == RING[0] and len(part.arms) == 3 for part in plan.parts)
    assert (plan.launches, plan.shuffle) == (6, True)


# --- right results ------------------------------------------------------------------------------
def test_right_results_take_one_launch_that_may_crowd_cores(here: Where) -> None:
    arms = {"Allreduce": {2: RING, 64: RING}, "Bcast": {2: RING}}
    plan = right_plan(request(timeout_s="70", sizes="8"), arms, here)
    assert [(part.benchmarks[0], part.world_ranks) for part in plan.parts] == [
        ("SELFTEST:Allreduce_right", 2),
        ("SELFTEST:Allreduce_right", 64),
        ("SELFTEST:Bcast_right", 2),
    ]
    assert all(part.arms == (("", {}), RING[0]) for part in plan.parts)
    assert all(part.sizes is None for part in plan.parts)
    assert (plan.launches, plan.seconds, plan.use_all, plan.data) == (1, None, False, "static")
    assert [part.timeout_s for part in plan.parts] == [30.0, 30.0, 30.0]
    assert (plan.timeout_s, plan.start_s) == (70.0, 70.0)


@pytest.mark.parametrize(("ranks", "silent_s"), [(256, 30.0), (512, 60.0), (4096, 70.0)])
def test_ranks_that_share_a_core_may_be_silent_for_longer(
    here: Where, ranks: int, silent_s: float
) -> None:
    """Of 32 cores; beyond --timeout no launch is. Launches of few ranks are not concerned."""
    alone = [("Allreduce", many, "", dict[str, str]()) for many in (2, ranks)]
    plan = right_alone_plan(request(timeout_s="70"), alone, here)
    assert [part.timeout_s for part in plan.parts] == [30.0, silent_s]
    assert plan.start_s == 70.0


def test_a_candidate_that_may_hang_has_a_launch_of_its_own(here: Where) -> None:
    assert min(ranks for ranks in range(2, 64) if ranks & (ranks - 1)) == ODD_RANKS
    alone = [("Allreduce", 2, "", {}), ("Bcast", 64, "ring", {"algorithm": "4"})]
    plan = right_alone_plan(request(seconds="60"), alone, here)
    assert [(part.benchmarks[0], part.world_ranks) for part in plan.parts] == [
        ("SELFTEST:Allreduce_right", 2),
        ("SELFTEST:Bcast_right", 64),
    ]
    assert [(part.arm, part.settings) for part in plan.parts] == [
        ("", {}), ("ring", {"algorithm": "4"})
    ]  # fmt: skip
    assert (plan.launches, plan.seconds, plan.use_all) == (1, None, False)


@pytest.mark.parametrize(("ranks", "ppn"), [(4, 2), (5, 3), (7, 4)])
def test_right_results_among_more_ranks_than_ppn_have_room(
    ranks: int, ppn: int, here: Where
) -> None:
    """Half of them on each of two hosts, rounded up."""
    where = on_two_hosts(here, ppn=2)
    assert where.with_room(ranks).resources.ppn == ppn
    assert here.with_room(ranks) is here


# --- what is measured of a collective ------------------------------------------------------------
def test_a_part_for_a_program_has_its_data_and_its_arrivals(here: Where) -> None:
    where = replace(here, mix=MIX)
    part = where.measured_part(request(), "Allreduce", 2)
    assert part.sizes == (8, 4096)
    assert part.suite_options == {"datatype": "float", "op": "band", "arrival": "profile:app=0+1"}
    part = where.measured_part(request(), "Bcast", 2)
    assert (part.sizes, part.suite_options) == ((64,), {})


def test_ranks_that_share_cores_do_not_come_as_in_the_program(here: Where) -> None:
    part = replace(here, mix=MIX).measured_part(request(oversubscribe=True), "Allreduce", 64)
    assert part.suite_options == {"datatype": "float", "op": "band"}


def test_as_many_ranks_as_cores_come_as_in_the_program(here: Where) -> None:
    where = on_two_hosts(replace(here, mix=MIX))
    assert (here.cores, where.cores) == (32, 64)
    part = where.measured_part(request(), "Allreduce", 64)
    assert part.suite_options["arrival"] == "profile:app=0+2"


def test_sizes_are_those_asked_for_or_few_where_ranks_share_cores(here: Where) -> None:
    assert here.sizes(request(sizes="8,64"), "Bcast", 33) == (8, 64)
    assert here.sizes(request(), "Bcast", 32) == SIZES
    assert here.sizes(request(), "Bcast", 33) == CROWDED_SIZES
    assert CROWDED_SIZES == (8, 65536, 1048576)
    assert [b // a for a, b in pairwise(SIZES)] == [4] * 9
    assert (SIZES[0], SIZES[-1]) == (8, 2 << 20)


# --- confirming ---------------------------------------------------------------------------------
def test_rules_are_confirmed_beside_the_default_at_their_sizes_and_between(here: Where) -> None:
    rules = [
        Rule("Allreduce", 2, 8, 32, "ring"),
        Rule("Allreduce", 2, 2048, 2048, "tree"),
        Rule("Allreduce", 4, 128, 128, "ring"),
        Rule("Bcast", 2, 512, 512, "ring"),
    ]
    plan = confirm_plan(request(seconds="60"), rules, {"file": "f"}, here)
    assert [(*of, part.arm, part.settings, part.sizes) for of, part in zip(
        of_parts(plan), plan.parts, strict=True)] == [
        (*of, arm, {"file": "f"} if arm else {}, sizes)
        for of, sizes in zip(OF_ARMS, ((8, 16, 32, 2048), (128,), (512,)), strict=True)
        for arm in ("", "tuned")
    ]  # fmt: skip
    assert (plan.shuffle, plan.launches, plan.seconds, plan.use_all) == (True, 10, None, False)


@pytest.mark.parametrize(("raw", "seconds"), [({}, 120.0), ({"seconds": "60"}, 60.0)])
def test_rules_among_ranks_that_share_cores_are_confirmed_in_a_given_time(
    raw: dict[str, str], seconds: float, here: Where
) -> None:
    rules = [Rule("Allreduce", 2, 8, 8, "ring"), Rule("Allreduce", 33, 8, 1 << 20, "ring")]
    asked_for = request(oversubscribe=True, **raw)
    assert confirm_plan(asked_for, rules, {}, here).seconds == seconds
    cores = [replace(rule, ranks=32) for rule in rules]
    assert confirm_plan(asked_for, cores, {}, here).seconds is None


def test_only_sizes_of_the_rule_are_confirmed(here: Where) -> None:
    crowded = Rule("Allreduce", 33, 65536, 65536, "ring")
    assert sizes_to_confirm(crowded, request(), here) == [65536]
    ends = Rule("Allreduce", 2, 16, 4100, "ring")
    assert sizes_to_confirm(ends, request(), replace(here, mix=MIX)) == [16, 4000, 4096]


# --- messages -----------------------------------------------------------------------------------
def a_task(where: Where, of: Request, mix: CallMix | None = None) -> TuningTask:
    from mpigauge.session.targets import Setup

    machine, mpi = where.resources.machine, where.mpi
    assert isinstance(machine, Machine)
    setup = Setup(machine, where.resources, mpi, None, where.cards, of)
    return TuningTask(setup, of, (), (), Path("tuned"), "again", mix)


def test_without_a_profile_messages_of_all_sizes_count_alike(here: Where) -> None:
    (pair,) = messages_of(a_task(here, request()))
    assert pair == Messages(("PingPong", "Sendrecv"), 2, dict.fromkeys(SIZES, 1.0))
    (pair,) = messages_of(a_task(here, request(sizes="8,64")))
    assert pair.weights == {8: 1.0, 64: 1.0}


def test_on_several_hosts_messages_go_over_the_network_as_well(here: Where) -> None:
    """With one rank on each host there are no others."""
    both = messages_of(a_task(on_two_hosts(here), request()))
    assert [each.each_on_a_host for each in both] == [False, True]
    apart = messages_of(a_task(on_two_hosts(here, ppn=1), request()))
    assert [each.each_on_a_host for each in apart] == [True]
    two = messages_of(a_task(on_two_hosts(here, ppn=2), request()))
    assert len(two) == 2


def test_messages_of_a_program_weigh_the_time_that_it_spends_on_them(here: Where) -> None:
    """Calls of one size in two types of data are one weight."""
    twice = replace(MIX, calls=(*MIX.calls, MixedCall("Allreduce", 2, 8, 8, 8, 0.5, "int", "sum")))
    found = messages_of(a_task(here, request(), twice))
    assert [(each.benchmarks, each.ranks, each.weights) for each in found] == [
        (("Allreduce",), 2, {4096: 6.0, 8: 2.5}),
        (("Allreduce",), 64, {8: 1.0}),
        (("Bcast",), 2, {64: 1.0}),
        (("PingPong",), 2, {512: 0.5, 8: 0.25}),
    ]
    assert not any(each.each_on_a_host for each in found)
    over = messages_of(a_task(on_two_hosts(here), request(), twice))
    assert [each.each_on_a_host for each in over] == [True, False, True, True]


def test_each_combination_of_settings_has_launches_beside_the_default(here: Where) -> None:
    """Open MPI's own settings for measuring candidates are not among them."""
    own = replace(
        request(seconds="60"), settings={"coll_tuned_use_dynamic_rules": "true", "btl": "self"}
    )
    messages = [
        Messages(("PingPong", "Sendrecv"), 2, {64: 1.0, 8: 1.0}),
        Messages(("PingPong",), 2, {8: 1.0}, each_on_a_host=True),
    ]
    where = replace(on_two_hosts(here), mpi=OPENMPI)
    task = a_task(where, own)
    plan = settings_plan(task, messages, {"pml=ucx": {"pml": "ucx"}}, ROUNDS)
    assert [(part.benchmarks, part.sizes, part.arm, part.settings) for part in plan.parts] == [
        (benchmarks, sizes, arm, {"pml": "ucx"} if arm == "pml=ucx" else {})
        for benchmarks, sizes in ((("PingPong", "Sendrecv"), (8, 64)), (("PingPong",), (8,)))
        for arm in ("", "pml=ucx", "control")
    ]
    assert plan.settings == {"btl": "self"}
    for rounds in (ROUNDS_OF_HALVING, ROUNDS_OF_TRIAL):
        assert settings_plan(task, messages, {}, rounds).launches == 2
    assert [block.ranks for block in plan.parts[-1].blocks] == [1, 1]
    assert (plan.shuffle, plan.launches, plan.seconds, plan.use_all) == (True, 16, None, False)


# --- what the library could reach ----------------------------------------------------------------
def test_algorithms_are_measured_in_the_launches_of_the_collective(here: Where) -> None:
    """With the rules in effect; in a program they come together, as messages have no arrival."""
    own = [card(f"Allreduce/{name}", suite="ALG") for name in ("ring", "linear")]
    cards = replace(here.cards, benchmarks=(*here.cards.benchmarks, *own))
    where = replace(here, cards=cards, mix=MIX)
    plan = beyond_plan(request(), [("Allreduce", 2)], {"rules": "file"}, where)
    (part,) = plan.parts
    assert part.benchmarks == ("Allreduce", "ALG:Allreduce/ring", "ALG:Allreduce/linear")
    assert (part.settings, part.sizes, part.world_ranks) == ({"rules": "file"}, (8, 4096), 2)
    assert part.suite_options == {"datatype": "float", "op": "band"}
    assert (plan.launches, plan.shuffle) == (6, True)
