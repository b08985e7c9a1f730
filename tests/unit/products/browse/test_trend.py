# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Steps in a series of runs: those that are there, those that are not, what changed near them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from mpigauge.model.row import Estimate
from mpigauge.products.browse.shifts import shifts
from mpigauge.products.browse.trend import TrendPoint, trend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    Process = Callable[[Generator, int], NDArray[np.float64]]

TRIALS, RUNS = 24, 40
BEGIN = datetime(2026, 9, 1, 3, tzinfo=timezone.utc)


def normal(random: Generator, count: int) -> NDArray[np.float64]:
    return random.standard_normal(count)


def heavy(random: Generator, count: int) -> NDArray[np.float64]:
    return random.standard_t(3, count)


def in_groups(random: Generator, count: int) -> NDArray[np.float64]:
    """One run in five is in another group, as far away as fifty times the scatter."""
    return (random.random(count) < 0.2) + 0.02 * random.standard_normal(count)


def alike(random: Generator, count: int) -> NDArray[np.float64]:
    """Neighbours correlate with 0.5."""
    found = random.standard_normal(count)
    for place in range(1, count):
        found[place] += 0.5 * found[place - 1]
    return found


def series(*levels: tuple[int, float], scatter: float = 0.01, seed: int = 1) -> list[float]:
    """So many values at each of these levels."""
    random = np.random.default_rng(seed)
    return [
        level * math.exp(scatter * random.standard_normal())
        for count, level in levels
        for _ in range(count)
    ]


# --- steps ----------------------------------------------------------------------------------
def test_a_step_is_found_where_it_is() -> None:
    found = shifts(series((20, 1e-6), (12, 1.3e-6)), 0.0)
    (step,) = found.steps
    assert (found.verdict, step.place, step.judged.verdict) == ("STEP", 20, "MORE")
    low, high = step.ratio.estimate[1:]
    assert low < 1.3 < high


def test_steps_up_and_down_are_found_each_between_its_neighbours() -> None:
    found = shifts(series((15, 1.0), (15, 1.2), (15, 0.9)), 0.0).steps
    assert [each.place for each in found] == [15, 30]
    assert [each.judged.verdict for each in found] == ["MORE", "LESS"]
    assert found[1].ratio.estimate.value == pytest.approx(0.75, rel=0.02)


def test_a_step_within_the_tolerance_is_none() -> None:
    values = series((20, 1.0), (20, 1.02), scatter=0.001)
    assert shifts(values, 0.0).verdict == "SAME"
    assert shifts(values, 0.0, tolerance=0.005).verdict == "STEP"


@pytest.mark.parametrize("behind", [0, 1, 5])
def test_few_runs_behind_it_make_no_step(behind: int) -> None:
    found = shifts(series((6, 1.0), (behind, 5.0)), 0.0)
    assert (found.steps, found.verdict) == ((), "UNDECIDED")


def test_six_on_each_side_are_enough() -> None:
    assert [each.place for each in shifts(series((6, 1.0), (6, 1.5)), 0.0).steps] == [6]


def test_scatter_hides_a_step_and_it_is_said_how_large_one_would_have_to_be() -> None:
    found = shifts(series((12, 1.0), (12, 1.06), scatter=0.2), 0.0)
    assert found.verdict == "UNDECIDED"
    assert 0.1 < found.visible < 2


def test_what_runs_know_of_themselves_is_never_undercut() -> None:
    values = [1.0] * 8 + [1.2] * 8
    assert shifts(values, 0.0).verdict == "UNDECIDED"  # no error at all is known
    assert shifts(values, 0.01).verdict == "STEP"
    assert shifts(values, 0.5).verdict == "UNDECIDED"


@pytest.mark.parametrize(("process", "most"), [(normal, 3), (heavy, 3), (in_groups, 3), (alike, 7)])
def test_a_series_without_a_step_seldom_shows_one(process: Process, most: int) -> None:
    random = np.random.default_rng(7)
    wrong = [
        shifts(np.exp(0.05 * process(random, RUNS)).tolist(), 0.0, tolerance=1e-6).verdict == "STEP"
        for _ in range(TRIALS)
    ]
    assert sum(wrong) <= most


# --- trends ---------------------------------------------------------------------------------
def points(values: Sequence[float], **facts: Callable[[int], Any]) -> list[TrendPoint]:
    """A point for each value, which is known to 1 %."""
    return [
        TrendPoint(
            f"night{number:02}",
            BEGIN + timedelta(days=number),
            Estimate(value, value * 0.99, value * 1.01),
            6,
            {name: fact(number) for name, fact in facts.items()},
        )
        for number, value in enumerate(values)
    ]


def kernel(number: int) -> str:
    return "6.1" if number < 14 else "6.8"


def test_a_step_is_named_with_its_verdict_and_what_changed_near_it() -> None:
    found = trend(points(series((15, 1e-6), (15, 1.3e-6)), kernel=kernel), "time")
    assert found.verdict == "SLOWER"
    (step,) = found.steps
    assert found.near(step) == [1]
    assert found.changes[0].words == ("kernel: 6.1 → 6.8",)
    said = found.sentence
    assert said.startswith("SLOWER since 2026-09-16 (night15): 1.296 times (1.2")
    assert said.endswith("what it was before.")


@pytest.mark.parametrize(
    ("kind", "said"), [("time", "SLOWER"), ("higher", "BETTER"), ("lower", "WORSE"), ("", "HIGHER")]
)
def test_the_word_fits_the_number(kind: str, said: str) -> None:
    assert trend(points(series((8, 1.0), (8, 1.5))), kind).verdict == said


def test_a_change_that_moved_nothing_is_the_same() -> None:
    found = trend(points(series((30, 1e-6)), kernel=kernel), "time")
    assert found.verdict == "SAME"
    assert [found.word(each) for each in found.at_changes] == ["SAME"]
    assert found.sentence == "SAME: no step of more than 5.0 % in 30 runs."


def test_a_change_with_few_runs_behind_it_is_undecided() -> None:
    found = trend(points(series((17, 1e-6)), kernel=kernel), "time")
    (at,) = found.at_changes
    assert found.word(at) == "UNDECIDED"
    assert at.undecided == "3 runs on one side, 6 are needed"


def test_few_runs_are_undecided() -> None:
    found = trend(points([1e-6] * 5), "time")
    assert found.sentence.startswith("UNDECIDED: 5 runs, and at least 12 are needed")


def test_runs_are_put_into_the_order_of_time_and_those_that_mean_nothing_left_out() -> None:
    given = points([3.0, math.nan, 1.0, 0.0, 2.0])
    given[-1] = replace(given[-1], wrong_count=1)
    assert [point.run for point in trend(given[::-1], "lower").points] == ["night00", "night02"]


def test_what_a_run_does_not_say_is_no_change() -> None:
    told = ["a", "", "a", "b"]
    (change,) = trend(points([1.0] * 4, governor=lambda n: told[n]), "time").changes
    assert (change.place, change.words) == (3, ("governor: a → b",))


def test_of_lists_only_the_difference_is_told() -> None:
    told = [("x 1", "y 1"), ("x 1", "y 2"), tuple("abcdef")]
    found = trend(points([1.0] * 3, libraries=lambda n: told[n]), "time").changes
    assert found[0].words == ("libraries: y 1 → y 2",)
    assert found[1].words == ("libraries: x 1, y 2 → a, b, c and 3 more",)
