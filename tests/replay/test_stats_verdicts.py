# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Verdicts: each of them, Holm's correction, and how often they are wrong.

A trial is two campaigns without clock and MPI: launches of chunk medians, replayed from recorded
traces of a quiet and a busy machine or drawn from processes, then tables of rows, judged together
with the curve that they make. Recorded runs at different times are in test_compare_replay.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from mpigauge.result.stats.joint_ratio import SideValue, ratio_of_all
from mpigauge.result.stats.launches import hull
from mpigauge.result.stats.ratio import Ratio, Sample, ratio
from mpigauge.result.stats.verdicts import holm, judge, judge_families

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Process = Callable[[Generator, tuple[int, ...]], Numbers]

TRIALS, SIZES, LAUNCHES, CHUNKS = 100, 24, 6, 8
DATA = Path(__file__).parents[1] / "data/chunk_medians.npz"


def known(value: float, error: float, launches: int = 6) -> Ratio:
    return Ratio(math.log(value), error, 2 * launches - 2, launches)


def said(*ratios: Ratio, tolerance: float = 0.05) -> list[str]:
    return [each.verdict for each in judge(ratios, tolerance)]


# --- one ratio ------------------------------------------------------------------------------------
def test_every_verdict() -> None:
    ratios = known(1.2, 0.01), known(0.8, 0.01), known(1.01, 0.01), known(1.03, 0.02)
    assert said(*ratios) == ["MORE", "LESS", "SAME", "UNDECIDED"]


def test_a_difference_within_the_tolerance_is_none() -> None:
    assert said(known(1.02, 0.001)) == ["SAME"]
    assert said(known(1.02, 0.001), tolerance=0.01) == ["MORE"]


def test_no_difference_is_not_the_same() -> None:
    """Whoever knows nothing must not say that two things are alike."""
    assert said(known(1.0, 0.2)) == ["UNDECIDED"]


@pytest.mark.parametrize("launches", [1, 2, 5])
def test_few_launches_decide_nothing(launches: int) -> None:
    (found,) = judge([known(3.0, 0.001, launches)])
    assert (found.verdict, found.needed) == ("UNDECIDED", 6)
    assert math.isnan(found.p)


def test_launches_that_never_differ_decide_nothing() -> None:
    (found,) = judge([ratio(Sample((1.0,) * 6), Sample((2.0,) * 6))])
    assert (found.verdict, found.needed) == ("UNDECIDED", None)


def test_what_would_decide_it() -> None:
    undecided = known(1.03, 0.02)
    (found,) = judge([undecided])
    assert found.needed is not None
    assert said(undecided.with_launches(found.needed)) != ["UNDECIDED"]
    assert said(undecided.with_launches(found.needed - 1)) == ["UNDECIDED"]
    assert judge([known(1.05, 1.0)])[0].needed is None


# --- several --------------------------------------------------------------------------------------
def test_holm_on_an_example() -> None:
    adjusted = holm([0.01, math.nan, 0.04, 0.03, 0.005])
    assert adjusted[:1] + adjusted[2:] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert math.isnan(adjusted[1])


def test_holm_with_weights() -> None:
    """What is found gives its weight to the others: 0.02 counts 3/2 times, then 0.03 and 0.04
    count 4 / 1 and 2 / 1 fourths … of what is left."""
    adjusted = holm([0.02, 0.03, 0.04], [2.0, 0.5, 0.5])
    assert adjusted == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.03, 0.04, 0.02]) == pytest.approx(holm([0.03, 0.04, 0.02], [7.0] * 3))


def test_a_family_of_one_is_not_drowned_by_one_of_many() -> None:
    odd, single = known(1.07, 0.025), [known(1.0, 0.03)] * 23
    (curve,), rows = judge_families([(2.0, [odd]), (1.0, [*single, odd])])
    assert (curve.verdict, rows[-1].verdict) == ("MORE", "UNDECIDED")


def test_an_interval_that_holds_1_decides_nothing() -> None:
    """The test is of the middle; stretched to the ratio of the medians, it holds 1."""
    away = Ratio(math.log(0.99), 0.01, 10, 6, middle=math.log(1.1))
    assert away.p < 0.001
    assert away.estimate.low < 1 < away.estimate.high
    assert said(away) == ["UNDECIDED"]


def test_many_ratios_make_a_single_one_less_sure() -> None:
    odd = known(1.07, 0.025)
    assert said(odd) == ["MORE"]
    assert said(odd, *[known(1.0, 0.03)] * 23)[0] == "UNDECIDED"


# --- trials ---------------------------------------------------------------------------------------
def replay(name: str, gap: int) -> Process:
    """Launches begin anywhere in the trace; other cells have their turns between two chunks."""

    def process(random: Generator, shape: tuple[int, ...]) -> Numbers:
        with np.load(DATA) as data:
            trace = data[name].astype(float)
        begin = random.integers(len(trace), size=(*shape[:-1], 1))
        replayed: Numbers = trace[
            (begin + random.integers(1, 2 * gap, size=shape).cumsum(axis=-1)) % len(trace)
        ]
        return replayed

    return process


def launches_differ(spread: float, noise: float) -> Process:
    def process(random: Generator, shape: tuple[int, ...]) -> Numbers:
        base = 1 + spread * random.standard_normal((*shape[:-1], 1))
        mixed: Numbers = base * (1 + noise * random.standard_normal(shape))
        return mixed

    return process


def sizes_together(process: Process) -> Process:
    """What a launch does it does at all sizes."""

    def together(random: Generator, shape: tuple[int, ...]) -> Numbers:
        trials, sizes, *rest = shape
        one = process(random, (trials, 1, *rest))
        mixed: Numbers = one * (1 + 0.01 * random.standard_normal((trials, sizes, *rest)))
        return mixed

    return together


def with_wild_launches(process: Process) -> Process:
    """One launch in 20 takes three times as long, at all sizes."""

    def wild(random: Generator, shape: tuple[int, ...]) -> Numbers:
        trials, _, sides, launches, _ = shape
        longer = np.where(random.random((trials, 1, sides, launches, 1)) < 0.05, 3.0, 1.0)
        mixed: Numbers = longer * process(random, shape)
        return mixed

    return wild


def two_modes(share: float, step: float) -> Process:
    """A launch is slow for its whole life, or not."""

    def process(random: Generator, shape: tuple[int, ...]) -> Numbers:
        slow = random.random((*shape[:-1], 1)) < share
        mixed: Numbers = np.where(slow, 1 + step, 1) * (1 + 0.01 * random.standard_normal(shape))
        return mixed

    return process


def trials(process: Process, sizes: int, launches: int = LAUNCHES) -> list[list[list[Sample]]]:
    """For each trial and size the samples of the two sides, whose launches were taken in turn."""
    random = np.random.default_rng(20261121)
    chunks = np.sort(process(random, (TRIALS, sizes, 2, launches, CHUNKS)), axis=-1)
    values = np.median(chunks, axis=-1)
    own = np.log(chunks[..., -1] / chunks[..., 0]).mean(axis=-1) / 2
    return [
        [
            [Sample(tuple(v), float(e)) for v, e in zip(sides, errors, strict=True)]
            for sides, errors in zip(values[trial].tolist(), own[trial], strict=True)
        ]
        for trial in range(TRIALS)
    ]


PROCESSES: dict[str, Process] = {
    "a quiet machine, 8 B": replay("quiet_8B", 100),
    "a busy machine, 8 B": replay("busy_8B", 100),
    "a busy machine, 8 B, close in time": replay("busy_8B", 5),
    "a quiet machine, 1 MiB": replay("quiet_1MiB", 15),
    "a busy machine, 1 MiB": replay("busy_1MiB", 15),
    "launches differ": launches_differ(0.02, 0.01),
    "chunks differ": launches_differ(0.0, 0.03),
    "two modes": two_modes(0.5, 0.4),
    "two modes, one of them rare": two_modes(0.2, 0.4),
    "two modes that are close": two_modes(0.5, 0.1),
    "sizes move together": sizes_together(launches_differ(0.05, 0.01)),
    "two modes of all sizes": sizes_together(two_modes(0.5, 0.4)),
    "wild launches": with_wild_launches(launches_differ(0.05, 0.01)),
    "wild launches of a busy machine": with_wild_launches(replay("busy_8B", 100)),
}


@pytest.mark.parametrize("name", PROCESSES)
def test_two_runs_of_one_thing_are_rarely_called_different(name: str) -> None:
    """A/A: in at most 5 % of tables is any row or the curve so. Rows that are a table of their own
    are so at 5 %, and their intervals miss the truth, which is 1, at 5 %, as far as trials tell:
    where sizes move together these are 100 trials, with a standard deviation of 2 %."""
    tables = trials(PROCESSES[name], SIZES)
    for in_turn in (False, True):
        told = [judged(table, in_turn) for table in tables]
        assert sum(bool({"LESS", "MORE"} & {curve, *rows}) for curve, rows in told) <= 0.05 * TRIALS
        ratios = [ratio(a, b, PAIRS if in_turn else []) for table in tables for a, b in table[:5]]
        alone = sum(said(each)[0] in ("LESS", "MORE") for each in ratios)
        assert alone <= 0.07 * len(ratios)
        missed = sum(not low <= 1 <= high for _, low, high in (each.estimate for each in ratios))
        assert missed <= 0.07 * len(ratios)


PAIRS = [(i, i) for i in range(LAUNCHES)]


def judged(table: list[list[Sample]], in_turn: bool) -> tuple[str, list[str]]:
    """What is said of the curve, and of its rows."""
    rows = [ratio(a, b, PAIRS if in_turn else []) for a, b in table]
    places = tuple(range(len(table[0][0].values)))
    sides = [tuple(SideValue(sample, places) for sample in line) for line in table]
    first = {n: f"{n:02} A" for n in places} if in_turn else {}
    second = {n: f"{n:02} B" for n in places} if in_turn else {}
    curve = ratio_of_all([(a, b) for a, b in sides], first, second)
    assert curve.paired == in_turn
    (whole,), single = judge_families([(2.0, [curve]), (1.0, rows)])
    return whole.verdict, [each.verdict for each in single]


@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize(
    ("process", "curves"),
    [
        (lambda random, shape: 1 + 0.05 * random.standard_normal((*shape[:-1], 1)), 1.0),
        (with_wild_launches(launches_differ(0.05, 0.0)), 0.85),
    ],
)
def test_a_tenth_that_few_rows_show_is_found_in_the_curve(
    process: Process, curves: float, in_turn: bool
) -> None:
    """24 rows, six launches, which scatter by 5 %: a third of rows at best."""
    told = [judged([[a, slowed(b)] for a, b in table], in_turn) for table in trials(process, SIZES)]
    rows = [said for _, of in told for said in of]
    assert rows.count("MORE") < 0.6 * len(rows)
    assert rows.count("LESS") == 0
    assert rows.count("SAME") < 0.005 * len(rows)
    assert [curve for curve, _ in told].count("MORE") >= curves * TRIALS


@pytest.mark.parametrize("name", ["quiet_8B", "busy_8B", "quiet_1MiB", "busy_1MiB", "spread"])
def test_a_slow_down_of_a_tenth_is_found(name: str) -> None:
    """Each row of a table of 24, with the launches that `--precision 2%` makes: up to 20."""
    process = launches_differ(0.02, 0.01) if name == "spread" else replay(name, 50)
    verdicts = [
        each.verdict
        for table in trials(process, SIZES, launches=20)[:20]
        for each in judge([ratio(known_to(a, 0.02), slowed(known_to(b, 0.02))) for a, b in table])
    ]
    assert verdicts.count("MORE") >= 0.9 * len(verdicts)


def slowed(sample: Sample) -> Sample:
    return Sample(tuple(1.1 * value for value in sample.values), sample.own_error)


def known_to(sample: Sample, precision: float) -> Sample:
    """The first launches of it that make the row's interval so narrow."""
    for n in range(LAUNCHES, len(sample.values)):
        values = sample.values[:n]
        middle = float(np.median(values))
        low, high = hull(
            values,
            [v * (1 - sample.own_error) for v in values],
            [v * (1 + sample.own_error) for v in values],
        )
        if max(high - middle, middle - low) <= precision * middle:
            return Sample(values, sample.own_error)
    return sample
