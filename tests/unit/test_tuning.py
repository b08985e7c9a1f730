# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Choosing rules: on recorded sweeps, half of whose launches choose while the others judge."""

from __future__ import annotations

import csv
import math
import random
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from statistics import median

import pytest

from mpigauge.model.names import CONTROL
from mpigauge.model.row import Estimate
from mpigauge.result.tuning.choose import (
    Choice,
    SizeRange,
    best_path,
    choose,
    judge,
    stand_ins,
)
from mpigauge.result.tuning.grid import DEFAULT, Grid, grid_of
from mpigauge.result.tuning.halving import contenders

RECORDED = Path(__file__).parents[1] / "golden" / "tuning"
"""Sweeps of MPICH 5.0.2 with 2 ranks, all arms in each launch: arm, size, launch, time."""
SLOWER = 1.05
NAMES = ("allreduce", "alltoall", "allgather", "bcast", "reduce_scatter")


@cache
def recorded(name: str) -> dict[tuple[str, int, int], float]:
    with (RECORDED / f"{name}.csv").open(encoding="utf-8") as file:
        return {
            (row["arm"], int(row["message_bytes"]), int(row["launch"])): float(row["time_us"])
            for row in csv.DictReader(file)
        }


def grid(times: dict[tuple[str, int, int], float], launches: tuple[int, ...] = ()) -> Grid:
    kept = {place: t for place, t in times.items() if not launches or place[2] in launches}
    arms = sorted({arm for arm, _, _ in kept})
    return grid_of(kept, {size for _, size, _ in kept}, arms)


def slower(choice: Choice, judges: Grid) -> list[tuple[str, int]]:
    """Where the other launches found a rule slower than the default by more than 5 %."""
    return [
        (stretch.arm, size)
        for stretch in choice.faster
        for size in stretch.sizes
        if median(judges.ratios(stretch.arm, size)) > math.log(SLOWER)
    ]


def test_all_launches_give_the_rules_that_were_confirmed_on_the_machine() -> None:
    (allreduce,) = choose(grid(recorded("allreduce"))).faster
    assert (allreduce.arm, allreduce.sizes[0]) == ("reduce_scatter_allgather", 32768)
    (alltoall,) = choose(grid(recorded("alltoall"))).faster
    assert (alltoall.arm, alltoall.sizes[-1]) == ("pairwise", 32768)
    assert choose(grid(recorded("allgather"))).faster == ()


@pytest.mark.parametrize("name", NAMES)
def test_what_half_of_the_launches_choose_is_not_slower_in_the_other_half(name: str) -> None:
    times = recorded(name)
    launches = grid(times).launches
    splits = list(combinations(launches, len(launches) // 2))
    assert len(splits) == 20
    bad = 0
    for chosen_by in splits:
        judged_by = tuple(n for n in launches if n not in chosen_by)
        choice = choose(grid(times, chosen_by))
        assert len(choice.faster) <= 3
        bad += bool(slower(choice, grid(times, judged_by)))
    assert bad <= 1


@pytest.mark.parametrize("name", NAMES)
def test_a_first_launch_leaves_what_all_launches_would_choose(name: str) -> None:
    """And what the rules of the others gain is not lost."""
    times = recorded(name)
    launches = grid(times).launches
    for first in launches:
        left = contenders(grid(times, (first,)))
        kept = {place: t for place, t in times.items() if place[0] in (*left, DEFAULT, CONTROL)}
        whole, screened = choose(grid(times)), choose(grid(kept))
        assert [each.arm for each in whole.faster] == [each.arm for each in screened.faster]
        assert [each.sizes for each in whole.faster] == [each.sizes for each in screened.faster]


def test_a_first_launch_drops_what_is_slower_everywhere() -> None:
    sizes, arms = (8, 64), ("good", "slow", "slower", "mixed", "lost")
    ratios = {"good": (0.7, 0.8), "slow": (1.5, 1.6), "slower": (2, 2), "mixed": (1.4, 0.9)}
    times = {(arm, size, 0): 1.0 for arm in (DEFAULT, CONTROL) for size in sizes}
    for arm, own in ratios.items():
        times |= {(arm, size, 0): ratio for size, ratio in zip(sizes, own, strict=True)}
    times["lost", 8, 0] = 1.0
    found = grid_of(times, sizes, arms)
    assert contenders(found) == ("good", "mixed", "lost")
    only_slow = grid_of(
        {p: t for p, t in times.items() if p[0] != "good"}, (8,), ("slow", "slower")
    )
    assert contenders(only_slow) == ()
    assert contenders(only_slow, for_every_size=True) == ("slow",)
    nothing = grid_of({("good", 8, 0): 1.0}, (8,), ("good", "slow"))
    assert set(contenders(nothing)) == {"good", "slow"}


@pytest.mark.parametrize("name", ["alltoall", "allgather"])
def test_without_a_guard_chance_would_be_taken_for_speed(name: str) -> None:
    """Why the guard is there: the path alone makes sizes slower in these very sweeps."""
    times = recorded(name)
    launches = grid(times).launches
    bad = 0
    for chosen_by in combinations(launches, len(launches) // 2):
        judges = grid(times, tuple(n for n in launches if n not in chosen_by))
        own = grid(times, chosen_by)
        path = best_path(own, 0.0)
        bad += any(
            median(judges.ratios(arm, size)) > math.log(SLOWER)
            for arm, size in zip(path, own.sizes, strict=True)
        )
    assert bad > 1


@cache
def differences() -> list[float]:
    """Of the default to itself, as they were recorded."""
    return [
        math.log(times[CONTROL, size, n] / times[DEFAULT, size, n])
        for times in map(recorded, NAMES)
        for arm, size, n in times
        if arm == DEFAULT and (CONTROL, size, n) in times
    ]


def the_same_under_many_names(rng: random.Random) -> Grid:
    """Arms that are all the default: their times differ as the recorded default's two do."""
    sizes, launches = [8 << 2 * k for k in range(10)], range(6)
    arms = (DEFAULT, CONTROL, *(f"again {k}" for k in range(8)))
    drawn = {
        (arm, size, n): math.exp(rng.choice(differences()) * rng.choice((-1, 1)) / math.sqrt(2))
        for arm in arms
        for size in sizes
        for n in launches
    }
    return grid_of(drawn, sizes, arms)


def test_a_thing_against_itself_gets_no_rule() -> None:
    rng = random.Random(17)
    with_a_rule = sum(bool(choose(the_same_under_many_names(rng)).faster) for _ in range(100))
    assert with_a_rule <= 5


def made(ratios: dict[str, list[float]], launches: int = 6) -> Grid:
    """Exact ratios to the default by size, which differs from itself by 1 %."""
    sizes = [1 << k for k in range(len(next(iter(ratios.values()))))]
    times = {}
    for n in range(launches):
        for place, size in enumerate(sizes):
            slow = 1 + 0.3 * n
            times[DEFAULT, size, n] = slow
            times[CONTROL, size, n] = slow * (1.01 if (n + place) % 2 else 0.99)
            for arm, of_arm in ratios.items():
                jitter = 1.002 if (n + place) % 3 else 0.998
                times[arm, size, n] = slow * of_arm[place] * jitter
    return grid_of(times, sizes, ratios)


def test_a_switch_that_gains_less_than_it_costs_is_not_made() -> None:
    found = choose(made({"a": [0.50, 0.50, 0.51, 0.50], "b": [0.9, 0.9, 0.505, 0.9]}))
    assert [(each.arm, each.sizes) for each in found.faster] == [("a", (1, 2, 4, 8))]


def test_a_switch_that_gains_more_is_made() -> None:
    found = choose(made({"a": [0.5, 0.5, 0.9, 0.9], "b": [0.9, 0.9, 0.5, 0.5]}))
    assert [(each.arm, each.sizes) for each in found.faster] == [("a", (1, 2)), ("b", (4, 8))]


def test_no_rule_reaches_over_a_size_at_which_it_was_slower() -> None:
    found = choose(made({"a": [0.5, 0.5, 1.03, 0.5, 0.5]}))
    assert [each.sizes for each in found.faster] == [(1, 2), (8, 16)]


def test_on_a_machine_that_changes_less_is_claimed() -> None:
    """The gain is the same in all launches; what the default differs from itself is not."""
    quiet = made({"a": [0.85] * 4})
    shaken = dict(quiet.logs)
    for size in quiet.sizes:
        for n in quiet.launches:
            shaken[CONTROL, size, n] += 0.5 if (n + size) % 2 else -0.5
    assert choose(quiet).faster
    assert choose(replace(quiet, logs=shaken)).faster == ()


def test_where_the_default_cannot_be_named_the_nearest_stands_in_for_it() -> None:
    made_here = made({"fast": [1.4, 1.4, 0.5, 0.5, 1.4], "same": [1.0, 1.01, 0.9, 0.9, 1.0]})
    faster = choose(made_here).faster
    assert [(each.arm, each.sizes) for each in faster] == [("fast", (4, 8))]
    instead = stand_ins(made_here, faster)
    assert [(each.arm, each.sizes) for each in instead] == [("same", (1, 2)), ("same", (16,))]
    assert all(each.is_as_good for each in instead)


def test_what_is_slower_than_the_default_is_not_as_good_as_it() -> None:
    made_here = made({"fast": [1.2, 1.2, 0.5, 0.5]})
    (instead,) = stand_ins(made_here, choose(made_here).faster)
    assert not instead.is_as_good


def test_without_candidates_nothing_stands_in() -> None:
    assert stand_ins(grid_of({(DEFAULT, 8, 0): 1.0}, [8], []), ()) == ()


def test_the_ratio_of_a_stretch_is_that_of_its_sizes() -> None:
    (stretch,) = choose(made({"a": [0.5, 0.5, 1.2]})).faster
    assert stretch.ratio.low < 0.5 < stretch.ratio.high
    assert stretch.ratio.value == pytest.approx(0.5, rel=0.01)
    assert stretch.p < 0.001


def test_one_or_two_launches_choose_nothing() -> None:
    assert choose(made({"a": [0.5]}, launches=2)).faster == ()


def test_one_launch_is_judged_and_proves_nothing() -> None:
    times = recorded("allreduce")
    one = grid(times, grid(times).launches[:1])
    (found,) = judge(one, [("reduce_scatter_allgather", one.sizes[-3:])], 1)
    assert found.ratio.value < 1
    assert math.isnan(found.ratio.low)
    assert (found.p, found.is_faster, found.is_as_good) == (1.0, False, False)


def test_without_a_control_nothing_is_chosen() -> None:
    times = {(arm, 8, n): 1.0 for arm in (DEFAULT, "a") for n in range(6)}
    assert choose(grid_of(times, [8], ["a"])).faster == ()


def test_an_arm_that_is_missing_somewhere_takes_no_part() -> None:
    times = {(arm, 8, n): 1.0 for arm in (DEFAULT, CONTROL, "a", "b") for n in range(6)}
    del times["b", 8, 3]
    found = grid_of(times, [8], ["a", "b"])
    assert (found.arms, found.incomplete) == (("a",), ("b",))


def test_a_launch_without_the_default_takes_no_part() -> None:
    times = {(arm, 8, n): 1.0 for arm in (DEFAULT, "a") for n in range(6)}
    del times[DEFAULT, 8, 0]
    assert grid_of(times, [8], ["a"]).launches == (1, 2, 3, 4, 5)


def test_what_was_chosen_elsewhere_is_judged_without_the_price_of_picking() -> None:
    own = made({"a": [0.9, 0.9]})
    (alone,) = judge(own, [("a", (1, 2))], picked_from=1)
    (picked,) = judge(own, [("a", (1, 2))], picked_from=8)
    assert alone.p <= picked.p


@pytest.mark.parametrize(("high", "is_faster"), [(0.95, True), (1.02, False)])
def test_what_is_faster_with_certainty_has_an_interval_that_says_so(
    high: float, is_faster: bool
) -> None:
    """One rule alone is tested in one direction, and its interval is of both."""
    found = SizeRange("ring", (8,), Estimate(0.8, 0.65, high), launches=10, p=0.04)
    assert found.is_faster == is_faster
