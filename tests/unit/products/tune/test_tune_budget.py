# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""`mpigauge tune --time`: how its time is divided, and that a resumed tuning asks nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpigauge.products.profile.program import stored_times
from mpigauge.products.tune.measure.budget import (
    LEAST_POINTS,
    LEAST_ROUNDS,
    LEAST_TESTS_S,
    SHARES,
    TESTS,
    TimeBudget,
)
from mpigauge.products.tune.measure.messages import points_to_measure, remembered
from mpigauge.products.tune.measure.task import RUN_NAMES
from tests.profiles import job, stored
from tests.unit.products.tune.test_tune_messages import SPACE


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("whole_s", [60.0, 600.0, 3600.0])
@pytest.mark.parametrize("program_s", [0.0, 0.5, 20.0])
def test_all_runs_and_the_program_fit_into_the_time(whole_s: float, program_s: float) -> None:
    """Each run takes the time that it is given, in the order of a tuning."""
    clock = Clock()
    budget = TimeBudget(whole_s, program_s, clock)
    for kind in ("p2p", "p2p", "p2p-finalists", "p2p-confirm", "screen", "grid", "confirm"):
        clock.now += budget.share_s(kind) or 0.0
    assert clock.now <= whole_s
    clock.now += 2 * budget.rounds(10) * (program_s + 1)
    assert clock.now <= 1.2 * whole_s or budget.rounds(10) == 2


def test_a_run_that_takes_longer_shortens_the_later_ones() -> None:
    clock = Clock()
    budget = TimeBudget(100.0, 0.0, clock)
    before = budget.share_s("grid") or 0.0
    clock.now = 60.0
    assert (budget.share_s("grid") or 0.0) == pytest.approx(0.4 * before)
    clock.now = 500.0
    assert budget.left_s == 0
    assert (budget.share_s("grid") or 0.0) > 0


def test_correctness_is_not_cut_short() -> None:
    """Unless each candidate is tested alone and that takes minutes."""
    clock = Clock()
    budget = TimeBudget(10.0, 0.0, clock)
    assert set(SHARES) <= set(RUN_NAMES)
    for kind in set(RUN_NAMES) - set(SHARES):
        assert "right" in kind
        assert budget.share_s(kind) == (LEAST_TESTS_S if kind == TESTS else None)
    long = TimeBudget(900.0, 0.0, clock)
    clock.now += 100.0
    assert long.share_s(TESTS) == 800.0


def test_a_verdict_on_the_program_has_its_time() -> None:
    clock = Clock()
    budget = TimeBudget(100.0, 1.0, clock)
    clock.now = 100.0 - budget.kept_s
    assert budget.rounds(10) == LEAST_ROUNDS


def test_a_search_in_little_time_has_few_points_and_the_same_when_resumed() -> None:
    clock = Clock()
    budget = TimeBudget(30.0, 0.0, clock)
    most = budget.points(4)
    assert most == LEAST_POINTS
    points = points_to_measure(SPACE, 1, most)
    assert len(points) <= most
    clock.now = 20.0
    assert points_to_measure(SPACE, 1, budget.points(4)) == points


def test_the_program_is_not_asked_twice(tmp_path: Path) -> None:
    asked: list[object] = []

    def failing(point: object) -> str:
        asked.append(point)
        return "status 1" if len(asked) > 1 else ""

    file = tmp_path / "runs" / "answers.json"
    first = remembered(failing, file)
    assert [first({"A": "1"}), first({"A": "2"}), first({"A": "1"})] == ["", "status 1", ""]
    again = remembered(failing, file)
    assert [again({"A": "1"}), again({"A": "2"})] == ["", "status 1"]
    assert len(asked) == 2


def test_launches_of_the_program_are_kept_up_to_the_first_that_is_missing(tmp_path: Path) -> None:
    folder = stored(tmp_path / "default", *(job(number, 2.0 + number) for number in (0, 1, 3)))
    times = stored_times(folder)
    assert [run_s for run_s, _ in times] == [1.0, 1.0]
    assert [mpi_s for _, mpi_s in times] == pytest.approx([0.175, 0.225])
