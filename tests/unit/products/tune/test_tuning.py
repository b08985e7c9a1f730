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
from scipy import stats

from mpigauge.model.names import CONTROL
from mpigauge.model.row import Estimate
from mpigauge.products.tune.decide.choose import (
    Choice,
    SizeRange,
    best_path,
    choose,
    judge,
    stand_ins,
)
from mpigauge.products.tune.decide.grid import DEFAULT, Grid, grid_of
from mpigauge.products.tune.decide.halving import contenders

RECORDED = Path(__file__).parents[3] / "golden" / "tuning"
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


def steady(ratios: dict[int, float], noise: float = 0.0, launches: int = 6) -> Grid:
    """One candidate, `a`, that takes exactly these shares of the default's time. `noise`: by how
    much the control differs from the default, as a logarithm."""
    times: dict[tuple[str, int, int], float] = {}
    for size, ratio in ratios.items():
        for n in range(launches):
            times[DEFAULT, size, n] = 1.0 + n
            times[CONTROL, size, n] = (1.0 + n) * math.exp(noise)
            times["a", size, n] = (1.0 + n) * ratio
    return grid_of(times, ratios, ["a"])


def test_a_path_stays_on_what_is_best_a_size_later() -> None:
    """At the first size `x` is 2 % faster than `y`, less than a change costs; the last size, at
    which `z` is best, has no say in that."""
    ratios = {"x": [0.50, 0.9, 0.9], "y": [0.51, 0.5, 0.9], "z": [0.9, 0.9, 0.5]}
    assert best_path(made(ratios), 0.05) == ["y", "y", "z"]
    assert best_path(made(ratios), 0.01) == ["x", "y", "z"]


@pytest.mark.parametrize(("price", "path"), [(0.06, ["a", DEFAULT]), (0.08, [DEFAULT, DEFAULT])])
def test_a_gain_counts_by_the_weight_of_its_size(price: float, path: list[str]) -> None:
    """Half of the time at 8 B, which count a tenth of all: 0.2 log 2 is gained, and two prices are
    paid, as the candidate is slower at 64 B."""
    weighted = replace(steady({8: 0.5, 64: 1.5}), weights={8: 1.0, 64: 9.0})
    assert 2 * 0.06 < 0.2 * math.log(2) < 2 * 0.08
    assert best_path(weighted, price) == path


def test_a_size_that_counts_nothing_may_still_not_be_slower() -> None:
    grid = replace(steady({8: 0.5, 64: 1.5}), weights={8: 1.0})
    assert best_path(grid, 0.1) == ["a", DEFAULT]


@pytest.mark.parametrize(
    ("launches", "slower", "path"),
    [(5, 1, DEFAULT), (6, 1, "a"), (6, 2, DEFAULT), (11, 2, DEFAULT), (12, 2, "a")],
)
def test_a_candidate_may_be_slower_in_one_of_six_launches(
    launches: int, slower: int, path: str
) -> None:
    times = {(DEFAULT, 8, n): 1.0 for n in range(launches)}
    times |= {("a", 8, n): 1.1 if n < slower else 0.5 for n in range(launches)}
    assert best_path(grid_of(times, [8], ["a"]), 0.01) == [path]


def test_the_interval_of_a_stretch_is_student_s() -> None:
    """Where launches scatter by more than the default does from itself. One-sided, and the price of
    picking it out of three."""
    shares = (0.7, 0.8, 0.75, 0.9, 0.65, 0.85)
    times = {(DEFAULT, 8, n): 1.0 for n in range(6)} | {(CONTROL, 8, n): 1.001 for n in range(6)}
    times |= {("a", 8, n): share for n, share in enumerate(shares)}
    (found,) = judge(grid_of(times, [8], ["a"]), [("a", [8])], 3)
    logs = [math.log(share) for share in shares]
    known = stats.ttest_1samp(logs, 0, alternative="less")
    low, high = stats.ttest_1samp(logs, 0).confidence_interval(0.95)
    assert found.ratio == pytest.approx((math.exp(sum(logs) / 6), math.exp(low), math.exp(high)))
    assert found.p == pytest.approx(3 * known.pvalue)
    (slower,) = judge(grid_of({p: 1 / t for p, t in times.items()}, [8], ["a"]), [("a", [8])])
    assert slower.p == pytest.approx(1 - known.pvalue)


@pytest.mark.parametrize("sizes", [(8,), (8, 64), (8, 64, 512, 4096)])
def test_launches_that_agree_scatter_as_the_default_does_from_itself(
    sizes: tuple[int, ...],
) -> None:
    """1.4826 median distances are a standard deviation, over as many sizes and six launches."""
    grid = steady(dict.fromkeys(sizes, 0.9), noise=0.02)
    (found,) = judge(grid, [("a", sizes)])
    error = 1.4826 * 0.02 / math.sqrt(len(sizes)) / math.sqrt(6)
    half = float(stats.t.ppf(0.975, 5)) * error
    assert math.log(found.ratio.high) == pytest.approx(math.log(0.9) + half)
    assert math.log(found.ratio.low) == pytest.approx(math.log(0.9) - half)
    assert found.p == pytest.approx(stats.t.cdf(math.log(0.9) / error, 5))


def test_weights_of_sizes() -> None:
    """Their mean is 1; sizes that have none count nothing, and all count alike where none has."""
    grid = replace(steady({8: 0.5, 64: 1.5, 512: 1.0}), weights={8: 1.0, 64: 3.0})
    assert [grid.weight(size) for size in grid.sizes] == [0.75, 2.25, 0.0]
    assert grid.independent((8, 64)) == pytest.approx((1 + 3) ** 2 / (1 + 9))
    assert grid.independent((8, 512)) == 1.0
    assert grid.independent((512,)) == 1.0
    assert grid.over("a", (8, 64)) == pytest.approx([(math.log(0.5) + 3 * math.log(1.5)) / 4] * 6)
    assert grid.over("a", (512,)) == [0.0] * 6
    alike = replace(grid, weights={})
    assert [alike.weight(size) for size in grid.sizes] == [1.0] * 3
    assert alike.independent((8, 64)) == 2.0


@pytest.mark.parametrize(("high", "is_as_good"), [(1.1, True), (1.1001, False)])
def test_what_is_as_good_takes_at_most_a_tenth_more(high: float, is_as_good: bool) -> None:
    stretch = SizeRange("a", (8,), Estimate(1.0, 0.9, high), 6, 1.0)
    assert stretch.is_as_good == is_as_good


def test_one_launch_is_judged_and_proves_nothing() -> None:
    times = recorded("allreduce")
    one = grid(times, grid(times).launches[:1])
    (found,) = judge(one, [("reduce_scatter_allgather", one.sizes[-3:])])
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


def test_where_no_launch_measured_the_default_everywhere_no_candidate_was_measured() -> None:
    times = {(arm, size, n): 1.0 for arm in ("", "a") for size in (8, 64) for n in range(6)}
    for n in range(6):
        del times[DEFAULT, 64, n]
    found = grid_of(times, [8, 64], ["a"])
    assert (found.launches, found.arms, found.incomplete) == ((), (), ("a",))
    assert stand_ins(found, ()) == choose(found).faster == ()


def test_what_was_chosen_elsewhere_is_judged_without_the_price_of_picking() -> None:
    own = made({"a": [0.9, 0.9]})
    (alone,) = judge(own, [("a", (1, 2))])
    (picked,) = judge(own, [("a", (1, 2))], picked_from=8)
    assert alone.p <= picked.p


@pytest.mark.parametrize(("high", "is_faster"), [(0.95, True), (1.02, False)])
def test_what_is_faster_with_certainty_has_an_interval_that_says_so(
    high: float, is_faster: bool
) -> None:
    """One rule alone is tested in one direction, and its interval is of both."""
    found = SizeRange("ring", (8,), Estimate(0.8, 0.65, high), launches=10, p=0.04)
    assert found.is_faster == is_faster
