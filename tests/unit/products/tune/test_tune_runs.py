# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Runs of a tuning as they are read: times of messages, candidates that failed, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from mpigauge.measuring.plan.plan import Plan, PlanPart
from mpigauge.model.columns import Cell
from mpigauge.model.errors import RunError
from mpigauge.model.names import CONTROL
from mpigauge.model.record import Failure, Record, Skip
from mpigauge.products.tune.decide.choose import fastest
from mpigauge.products.tune.decide.grid import DEFAULT
from mpigauge.products.tune.measure.beyond import beside
from mpigauge.products.tune.measure.choosing import screened
from mpigauge.products.tune.measure.message_runs import (
    Messages,
    failures_of,
    grid_of_run,
    slower_messages,
)
from mpigauge.products.tune.measure.right import tried_alone, why_lost
from mpigauge.products.tune.measure.task import check_level, is_cut_short
from mpigauge.products.tune.result import Tried, grids, tried
from mpigauge.runs.store import Run
from mpigauge.runs.store.tuned_rules import Fault
from mpigauge.site.mpi.rule_files.candidates import candidates_of
from tests import planted
from tests.cells import cell

PAIR = Messages(("PingPong", "Sendrecv"), 2, {64: 2.0, 8: 1.0})
SUMS = Messages(("Allreduce",), 4, {8: 3.0})
EVERY = (PAIR, SUMS)
ARMS = (DEFAULT, "eager=1", "eager=2", CONTROL)
ROUNDS = 3


def a_plan() -> Plan:
    """As `settings_plan` makes it: the parts of each kind of messages, in another order in each
    round."""
    parts = [
        PlanPart(of.benchmarks, of.ranks, sizes=tuple(sorted(of.weights)), arm=arm)
        for of in EVERY
        for arm in ARMS
    ]
    return Plan(tuple(parts), "mpich", 7, launches=ROUNDS, shuffle=True)


def seconds(arm: str, benchmark: str, size: int, number: int) -> float:
    """Another value for each, in round `number`."""
    place = ("PingPong", "Sendrecv", "Allreduce").index(benchmark)
    return (1 + ARMS.index(arm)) * 10.0**place * (1 + size / 100) * (1 + number / 10)


def a_run(cells: Sequence[Cell], others: Sequence[Record] = ()) -> Run:
    return planted.run(cells, others, plan=a_plan().to_json())


def all_cells() -> list[Cell]:
    plan, found = a_plan(), []
    for launch in range(ROUNDS * len(plan.parts)):
        part = plan.part(launch)
        for name in part.benchmarks:
            for size in part.sizes or ():
                time = seconds(part.arm, name, size, launch // len(plan.parts))
                found.append(cell(name, launch=launch, ranks=part.world_ranks, arm=part.arm,
                                  message_bytes=size, time_p50_s=time))  # fmt: skip
    return found


def launch_of(arm: str, kind: int) -> int:
    """The first launch of this arm with these messages."""
    plan = a_plan()
    wanted = kind * len(ARMS) + ARMS.index(arm)
    return next(launch for launch in range(100) if plan.part_number(launch) == wanted)


# --- messages -------------------------------------------------------------------------------------
def test_each_time_comes_to_the_place_of_its_messages_and_its_round() -> None:
    found = grid_of_run(a_run(all_cells()), EVERY, ["eager=1", "eager=2"])
    assert (found.sizes, found.launches) == ((0, 1, 2, 3, 4), (0, 1, 2))
    assert (found.arms, found.incomplete) == (("eager=1", "eager=2"), ())
    assert found.weights == {0: 1.0, 1: 2.0, 2: 1.0, 3: 2.0, 4: 3.0}
    of_place = [("PingPong", 8), ("PingPong", 64), ("Sendrecv", 8), ("Sendrecv", 64),
                ("Allreduce", 8)]  # fmt: skip
    for place, (benchmark, size) in enumerate(of_place):
        for arm in ARMS:
            for number in range(ROUNDS):
                expected = math.log(seconds(arm, benchmark, size, number))
                assert found.logs[arm, place, number] == pytest.approx(expected)


def test_points_that_gave_wrong_data_and_other_sizes_take_no_part() -> None:
    cells = all_cells()
    wrong = [replace(each, wrong_count=1) if (each.arm, each.benchmark, each.message_bytes) ==
             ("eager=1", "Sendrecv", 64) else each for each in cells]  # fmt: skip
    other = replace(cells[0], message_bytes=16)
    found = grid_of_run(a_run([*wrong, other]), EVERY, ["eager=1", "eager=2"])
    assert (found.arms, found.incomplete) == (("eager=2",), ("eager=1",))
    assert not any(arm == "eager=1" for arm, _, _ in found.logs)
    assert (found.sizes, found.launches) == ((0, 1, 2, 3, 4), (0, 1, 2))


def test_what_failed_is_named_by_its_first_reason() -> None:
    """Of points that were asked for; not of the default."""
    wrong = [replace(each, wrong_count=1) for each in all_cells()
             if each.arm in ("eager=1", DEFAULT)][:9]  # fmt: skip
    failures = [
        Failure(launch_of("eager=1", 0), -1, "ended with status 1"),
        Failure(launch_of("eager=2", 1), -1, "hung"),
        Failure(launch_of("eager=2", 1), 0, "ended by signal 9"),
        Failure(launch_of(CONTROL, 0), -1, "no memory"),
    ]
    found = failures_of(a_run(wrong, failures), ["eager=1", "eager=2"])
    first = next(each for each in wrong if each.arm == "eager=1")
    assert found == {"eager=1": f"{first.benchmark} delivers wrong data", "eager=2": "hung"}
    assert failures_of(a_run(all_cells(), failures), ["eager=1"]) == {
        "eager=1": "ended with status 1"
    }


def test_messages_that_get_slower_are_named_by_their_sizes() -> None:
    """`tuned` takes twice the time of PingPong of 64 B, and of all Sendrecv."""
    times = {}
    slow = {("PingPong", 64), ("Sendrecv", 8), ("Sendrecv", 64)}
    plan = Plan(
        tuple(PlanPart(of.benchmarks, of.ranks, arm=arm) for of in EVERY
              for arm in (DEFAULT, "tuned", CONTROL)), "mpich", 7
    )  # fmt: skip
    cells = []
    for launch in range(8 * len(plan.parts)):
        part = plan.part(launch)
        of = EVERY[plan.part_number(launch) // 3]
        for name in of.benchmarks:
            for size in of.weights:
                factor = 2.0 if part.arm == "tuned" and (name, size) in slow else 1.0
                times[name, size] = factor * (1 + (launch % 5) / 1000)
                cells.append(cell(name, launch=launch, ranks=of.ranks, arm=part.arm,
                                  message_bytes=size, time_p50_s=times[name, size]))  # fmt: skip
    grid = grid_of_run(planted.run(cells, plan=plan.to_json()), EVERY, ["tuned"])
    found = slower_messages(grid, EVERY)
    named = [(each.benchmark, each.ranks, each.first_bytes, each.last_bytes) for each in found]
    assert named == [("PingPong", 2, 64, 64), ("Sendrecv", 2, 8, 64)]
    assert [each.ratio.value for each in found] == pytest.approx([2.0, 2.0], rel=0.01)


# --- candidates -----------------------------------------------------------------------------------
def test_what_was_not_measured_is_neither_right_nor_wrong() -> None:
    cells = [
        cell("Bcast_right", arm="good", ranks=3),
        cell("Bcast_right", arm="bad", ranks=3, wrong_count=1),
        cell("Bcast_right", arm="worse", ranks=3, wrong_count=2, check="unchecked"),
        cell("Bcast_right", arm="open", ranks=3, check="unchecked"),
    ]
    assert tried(planted.run(cells)) == Tried(
        frozenset({("Bcast", 3, "good")}),
        (
            Fault("Bcast", 3, "bad", "1 wrong elements among 3 ranks"),
            Fault("Bcast", 3, "worse", "2 wrong elements among 3 ranks"),
        ),
    )


def test_a_candidate_that_is_too_slow_to_test_is_neither_right_nor_wrong() -> None:
    """One that was left out for another reason is tested again alone."""
    key = {"benchmark": "Allreduce_right", "ranks": 512}
    slow = "the test takes too long: 42 calls of 13000 ms"
    skips = [Skip(0, key | {"arm": "ring"}, slow), Skip(0, key | {"arm": "tree"}, "no memory")]
    outcome = tried(planted.run([cell("Allreduce_right", arm="good", ranks=512)], skips))
    assert outcome.right == {("Allreduce", 512, "good")}
    assert outcome.untested == {("Allreduce", 512, "ring"): slow}
    assert outcome.tested == outcome.right
    assert not outcome.faults


def test_candidates_that_were_not_launched_are_neither_right_nor_wrong() -> None:
    """One whose launch ended without a result has a fault."""
    alone = [("Bcast", 2, arm) for arm in ("good", "hangs", "ends", "late")]
    parts = [PlanPart(("SELFTEST:Bcast_right",), 2, arm=arm) for _, _, arm in alone]
    (first,) = planted.run([]).launches
    others = (Failure(1, -1, "it was silent"), replace(first, launch=2))
    right = [cell("Bcast_right", arm="good", ranks=2)]
    run = planted.run(right, others, plan=Plan(tuple(parts), "mpich", 1).to_json())
    outcome = tried_alone(run, alone)
    assert outcome.right == {alone[0]}
    assert outcome.faults == (
        Fault(*alone[1], "it was silent"),
        Fault(*alone[2], "a launch of 2 ranks brought nothing"),
    )
    assert outcome.untested == {alone[3]: "no time was left"}


def test_launches_of_one_round_are_compared_with_each_other() -> None:
    """Of two parts, launches 0 and 1 are the first round."""
    part = PlanPart(("Bcast",), 2)
    cells = [
        cell("Bcast", launch=launch, arm=("" if launch % 2 else "a"), message_bytes=8,
             time_p50_s=1.0 + launch) for launch in range(4)
    ]  # fmt: skip
    (found,) = grids(planted.run(cells, plan=Plan((part, part), "mpich", 1).to_json())).values()
    assert found.launches == (0, 1)
    assert found.ratios("a", 8) == pytest.approx([math.log(1 / 2), math.log(3 / 4)])
    alone = grids(planted.run(cells, plan=Plan((part,), "mpich", 1).to_json()))["Bcast", 2]
    assert alone.launches == (1, 3)
    assert grids(planted.run(cells))["Bcast", 2] == alone


@pytest.mark.parametrize(("launch", "why"), [(1, "hung"), (4, "hung"), (0, "a launch of 3 ranks")])
def test_why_a_candidate_brought_nothing(launch: int, why: str) -> None:
    """Of the failures that of its own part, in whichever round; else what was skipped."""
    parts = [
        PlanPart(("SELFTEST:Bcast_right",), ranks, arm=arm)
        for ranks, arm in ((2, "ring"), (3, "ring"), (3, "tree"))
    ]
    plan = Plan(tuple(parts), "mpich", 1).to_json()
    failed = planted.run([], [Failure(launch, -1, "hung")], plan=plan)
    assert why_lost(failed, "Bcast", 3, "ring").startswith(why)
    assert why_lost(failed, "Allreduce", 3, "ring") == "a launch of 3 ranks brought nothing"
    skipped = planted.run([], [Skip(1, {"arm": "ring"}, "no memory")], plan=plan)
    assert why_lost(skipped, "Bcast", 3, "ring") == "no memory"
    assert why_lost(skipped, "Bcast", 3, "tree") == "a launch of 3 ranks brought nothing"


@pytest.mark.parametrize(
    ("status", "is_short"),
    [
        ({"status": "done"}, False),
        ({"status": "failed"}, False),
        ({"status": "interrupted"}, True),
        ({"status": "failed", "reason": "the disk is full"}, True),
        ({}, True),
    ],
)
def test_a_run_that_was_given_up_goes_on(status: dict[str, str], is_short: bool) -> None:
    assert is_cut_short(replace(planted.run([]), status=status)) == is_short


class MeasuringError(Exception):
    """A task is about to make a plan, for a run."""


class Idle:
    """A task of which nothing is measured."""

    def __init__(self, is_crowded: bool = False) -> None:
        self.is_crowded = is_crowded

    def __getattr__(self, name: str) -> Any:
        raise MeasuringError(name)


def test_a_first_look_is_for_more_than_three_candidates() -> None:
    task, crowded = Idle(), Idle(is_crowded=True)
    every = [each for each in candidates_of("mpich") if each.collective == "Allreduce"]
    few, many = {("Allreduce", 2): every[:3]}, {("Allreduce", 2): every[:4]}
    assert len(many["Allreduce", 2]) == 4
    assert screened(task, few) is few  # type: ignore[arg-type]
    assert screened(crowded, many) is many  # type: ignore[arg-type]
    for wanted in (many, few | {("Allreduce", 4): every}):
        with pytest.raises(MeasuringError):
            screened(task, wanted)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "given", "is_less"),
    [
        ("multiple", "serialized", True),
        ("funneled", "single", True),
        ("funneled", "funneled", False),
        ("funneled", "multiple", False),
        ("", "single", False),
        ("multiple", "", False),
    ],
)
def test_a_lower_thread_level_than_asked_for_ends_the_tuning(
    asked: str, given: str, is_less: bool
) -> None:
    of = planted.run([])
    start = replace(of.launches[0], thread_level_asked=asked, thread_level=given)
    of = replace(of, records=(start,))
    if not is_less:
        check_level(of)
        return
    with pytest.raises(RunError, match=f"no thread level {asked}, only {given}: programs run"):
        check_level(of)


# --- algorithms of suite ALG beside the library ---------------------------------------------------
def beside_run() -> Run:
    """The ring takes half of Reduce_scatter's time at 64 B, and twice of Reduce_scatter_block's."""
    names = ("Reduce_scatter", "Reduce_scatter_block")
    ring = "ALG:Reduce_scatter/ring"
    parts = tuple(PlanPart((name, ring), 2, sizes=(8, 64)) for name in names)
    plan = Plan(parts, "mpich", 7, launches=6, shuffle=True)
    found = []
    for launch in range(6 * len(parts)):
        (name, _), jitter = plan.part(launch).benchmarks, 1 + launch % 3 / 100
        for size in (8, 64):
            ratio = 0.5 if (name, size) == (names[0], 64) else 2.0
            for suite, own, time in (
                ("MPI1", name, 1.0),
                ("ALG", "Reduce_scatter/ring", ratio * jitter),
            ):
                found.append(cell(own, suite=suite, launch=launch, ranks=2, message_bytes=size,
                                  time_p50_s=time))  # fmt: skip
    return planted.run(found, plan=plan.to_json())


def test_an_algorithm_is_set_beside_the_collective_of_its_launch() -> None:
    found = beside(beside_run())
    assert set(found) == {("Reduce_scatter", 2), ("Reduce_scatter_block", 2)}
    (faster,) = fastest(found["Reduce_scatter", 2])
    assert (faster.arm, faster.sizes) == ("ALG:Reduce_scatter/ring", (64,))
    assert faster.ratio.high < 0.52
    assert fastest(found["Reduce_scatter_block", 2]) == []


def test_two_launches_say_nothing_of_what_the_library_could_reach() -> None:
    grid = replace(beside(beside_run())["Reduce_scatter", 2], launches=(0, 1))
    assert fastest(grid) == []
