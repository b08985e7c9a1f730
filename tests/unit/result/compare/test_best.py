# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The best of several settings for each size (`result.compare.best`)."""

from __future__ import annotations

import math

import pytest

from mpigauge.result.compare.best import Best, BestSettings, Control, best_of, reaches
from mpigauge.result.compare.compare import compare
from mpigauge.result.stats.ratio import Ratio
from tests.unit.result.compare.test_compare import figures, made, side

SIZES = (8, 1024)


def best(times: dict[str, float], scatter: float = 0.01, launches: int = 6) -> BestSettings:
    """Of settings that take so many times as long as the default."""
    rows = {
        name: made(factor, launches, seed, sizes=SIZES, scatter=scatter)
        for seed, (name, factor) in enumerate(times.items())
    }
    return best_of(compare([side(name, own) for name, own in rows.items()]))


def names_of(line: Best) -> tuple[str | None, list[str], list[str]]:
    """The best, those that are as good, and all that were compared."""
    named = line.best.name if line.best else None
    return named, [each.name for each in line.as_good], [each.name for each in line.arms]


def test_the_largest_gain_is_best_and_what_reaches_it_is_as_good() -> None:
    """A setting that is surely better than the default, but not as good, is only compared."""
    found = best({"default": 1, "control": 1, "c": 0.8, "b": 0.502, "a": 0.5, "slow": 2, "one": 1})
    assert [line.first.message_bytes for line in found.lines] == list(SIZES)
    for line in found.lines:
        named, as_good, arms = names_of(line)
        assert {named, *as_good} == {"a", "b"}
        assert arms == ["c", "b", "a", "slow", "one"]
        assert (line.worse, line.same, line.undecided) == (1, 1, 0)
        assert (line.few, line.is_open) == (False, False)


@pytest.mark.parametrize(("factor", "different"), [(1.0, 0), (1.5, 2), (0.5, 2)])
def test_the_control_tells_how_often_chance_makes_a_difference(
    factor: float, different: int
) -> None:
    found = best({"default": 1, "a": 0.5, "control": factor})
    assert found.control == Control(compared=2, different=different)
    assert best({"default": 1, "a": 0.5}).control is None


def test_few_launches_name_nothing_as_best() -> None:
    found = best({"default": 1, "control": 1, "a": 0.5}, launches=5)
    assert found.control == Control(0, 0)
    for line in found.lines:
        assert (line.best, line.few, line.is_open, line.undecided) == (None, True, True, 1)


def test_a_setting_that_scatters_leaves_it_open_what_is_best() -> None:
    for line in best({"default": 1, "a": 0.9}, scatter=0.3).lines:
        assert (line.best, line.few, line.is_open, line.undecided) == (None, False, True, 1)
        assert (line.same, line.worse) == (0, 0)


def test_what_takes_the_same_or_more_time_leaves_nothing_open() -> None:
    for line in best({"default": 1, "a": 1, "b": 2}).lines:
        assert (line.best, line.is_open, line.same, line.worse) == (None, False, 1, 1)


def test_a_setting_is_compared_where_it_was_measured() -> None:
    sides = [
        side("default", made(sizes=SIZES)),
        side("a", made(0.5, seed=2, sizes=SIZES)),
        side("b", made(0.4, seed=3, sizes=(1024,))),
    ]
    small, large = best_of(compare(sides)).lines
    assert names_of(small) == ("a", [], ["a"])
    assert names_of(large) == ("b", [], ["a", "b"])


@pytest.mark.parametrize(("better", "named"), [("higher", "b"), ("lower", "a"), ("", None)])
def test_figures_go_by_their_direction_and_without_one_none_is_best(
    better: str, named: str | None
) -> None:
    values = {"default": 100.0, "a": 50.0, "b": 300.0}
    sides = [side(name, [], figures(value, better)) for name, value in values.items()]
    (line,) = best_of(compare(sides)).lines
    assert names_of(line) == (named, [], ["a", "b"])
    assert line.worse == (1 if better else 0)


@pytest.mark.parametrize(
    ("log", "is_reached"), [(0.0, True), (0.39, True), (-0.39, True), (0.4, False), (-0.4, False)]
)
def test_intervals_that_overlap_reach_each_other(log: float, is_reached: bool) -> None:
    """Each has 0.1 · 1.96 = 0.196 to each side, at very many degrees of freedom."""
    one, other = Ratio(0.0, 0.1, 1e7, 6), Ratio(log, 0.1, 1e7, 6)
    assert reaches(one, other) == is_reached
    assert not reaches(None, other)
    assert not reaches(one, None)
    assert not math.isnan(one.estimate.low)
