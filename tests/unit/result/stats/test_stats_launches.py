# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpigauge.model.columns import Cell
from mpigauge.result.stats.launches import (
    aggregate,
    expected_error,
    hull,
    in_order,
    in_two_groups,
    rows,
    widened,
)
from tests import cells

TIMES = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=20)


def launches(times: list[float], **changed: Any) -> list[Cell]:
    return [cells.cell(launch=i, time_p50_s=t, **changed) for i, t in enumerate(times)]


@given(TIMES)
def test_the_value_is_the_median_and_lies_in_the_interval(times: list[float]) -> None:
    row = aggregate(launches(times))
    assert row.low_s <= row.time.value <= row.high_s
    assert min(times) <= row.time.value <= max(times)


@pytest.mark.parametrize(("count", "kind"), [(1, "one launch"), (2, "range"), (5, "range"),
                                             (6, "interval"), (20, "interval")])  # fmt: skip
def test_the_word_says_what_the_ends_are(count: int, kind: str) -> None:
    assert aggregate(launches([1e-6] * count)).kind == kind


def test_few_launches_have_a_range() -> None:
    row = aggregate(launches([3e-6, 1e-6, 2e-6]))
    assert (row.low_s, row.time.value, row.high_s) == (1e-6, 2e-6, 3e-6)


def test_launches_that_agree_by_chance_know_no_more_than_each_does() -> None:
    same = [1.0] * 6
    assert hull(same, [0.97] * 6, [1.04] * 6) == pytest.approx((0.97, 1.04))
    assert hull(same * 4, [0.97] * 24, [1.04] * 24) == pytest.approx((0.985, 1.02))


def test_launches_that_differ_decide_alone() -> None:
    values = [0.9, 0.95, 1.0, 1.0, 1.05, 1.1]
    assert hull(values, [v * 0.999 for v in values], [v * 1.001 for v in values]) == (0.9, 1.1)


def test_nothing_is_known_of_the_error_of_classic_rows_of_one_launch() -> None:
    row = aggregate(launches([1e-6], mode="classic", ci_low_s=None, ci_high_s=None))
    assert math.isnan(row.relative_error)


def test_classic_rows_of_six_launches_have_an_interval() -> None:
    times = [1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 6e-6]
    row = aggregate(launches(times, mode="classic", ci_low_s=None, ci_high_s=None))
    assert (row.low_s, row.high_s) == (1e-6, 6e-6)


def test_counts_are_summed_and_extremes_kept() -> None:
    best = [3e-6, 1e-6, 2e-6]
    measured = [replace(c, time_best_s=b) for c, b in zip(launches(best), best, strict=True)]
    row = aggregate(measured)
    assert (row.samples, row.cell.chunks, row.cell.time_best_s) == (360, 18, 1e-6)
    assert row.values_s == tuple(best)


def test_wrong_data_of_one_launch_is_wrong_data_of_the_row() -> None:
    measured = launches([1e-6] * 6)
    assert aggregate([*measured[:-1], replace(measured[-1], wrong_count=3)]).wrong_count == 3


def test_what_is_not_known_in_one_launch_is_taken_from_the_others() -> None:
    measured = launches([1e-6, 2e-6])
    row = aggregate([replace(measured[0], time_mean_s=math.nan), measured[1]])
    assert row.cell.time_mean_s == 2e-6


def test_a_flag_needs_a_third_of_the_launches() -> None:
    quiet, loud = cells.cell(), cells.cell(flags=["drift"])
    few = [replace(loud if i < 1 else quiet, launch=i) for i in range(6)]
    enough = [replace(loud if i < 2 else quiet, launch=i) for i in range(6)]
    assert aggregate(few).flags == ()
    assert aggregate(enough).flags == ("drift",)


def test_launches_in_two_groups_are_bimodal() -> None:
    assert aggregate(launches([1.0, 1.01, 1.0, 1.4, 1.41, 1.4])).flags == ("bimodal",)
    assert aggregate(launches([1.0, 1.01, 1.0, 1.02, 1.01, 1.4])).flags == ()


def test_convergence_is_judged_for_the_row() -> None:
    narrow = launches([1e-6] * 6, flags=["unconverged"])
    wide = launches([1e-6, 1.1e-6, 1.2e-6, 1.3e-6, 1.4e-6, 1.5e-6])
    assert aggregate(narrow, precision=0.05).flags == ()
    assert aggregate(wide, precision=0.05).flags == ("unconverged",)


def test_a_row_that_just_reaches_the_precision_is_not_flagged() -> None:
    """Nor one of classic launches, which are not judged, and whose own flags stay."""
    ends = {"ci_low_s": 0.9375e-6, "ci_high_s": 1.0625e-6}
    row = aggregate(launches([1e-6] * 6, flags=["unconverged"], **ends))
    assert row.flags == ("unconverged",)
    assert aggregate(launches([1e-6] * 6, **ends), precision=row.relative_error).flags == ()
    below = math.nextafter(row.relative_error, 0)
    assert aggregate(launches([1e-6] * 6, **ends), precision=below).flags == ("unconverged",)
    classic = launches([1e-6] * 6, mode="classic", **ends)
    assert aggregate(classic, precision=below).flags == ()
    flagged = [replace(cell, flags=("unconverged",)) for cell in classic]
    assert aggregate(flagged, precision=0.5).flags == ("unconverged",)


def test_a_row_whose_error_is_not_known_misses_any_precision() -> None:
    row = aggregate(launches([1e-6], ci_low_s=None, ci_high_s=None), precision=0.5)
    assert row.flags == ("unconverged",)


@pytest.mark.parametrize("times", [(1.0, 1.1), (1.0, 1.1, 1.25), (3.0, 1.0, 1.1, 1.25, 1.3, 0.9)])
@pytest.mark.parametrize(("more", "widening"), [(6, 1.0), (20, 1.3)])
def test_the_error_that_so_many_launches_would_have(
    times: tuple[float, ...], more: int, widening: float
) -> None:
    """1.96 standard errors of a median, of which one is √(π/2) of a mean's, by median distances."""
    logs = np.log(times)
    usual = np.median(np.abs(logs - np.median(logs)))
    deviation = 1.4826 * usual * math.sqrt(len(times) / (len(times) - 1))
    error = 1.96 * math.sqrt(math.pi / 2) * deviation / math.sqrt(more) * widening
    assert expected_error(times, more, widening) == pytest.approx(error, rel=1e-3)
    assert math.isnan(expected_error(times[:1], more))
    assert math.isnan(expected_error((*times, 0.0), more))


def test_an_interval_of_alike_launches_is_wider_as_ratios() -> None:
    assert widened(2.0, (1.0, 3.0), 2.0) == pytest.approx((0.5, 4.5))
    assert widened(2.0, (1.0, 3.0), 1) == (1.0, 3.0)
    assert widened(2.0, (0.0, 3.0), 2.0) == (0.0, 3.0)
    assert widened(0.0, (-1.0, 3.0), 2.0) == (-1.0, 3.0)


@pytest.mark.parametrize(
    ("times", "is_apart"),
    [
        ((1.0, 1.0, 1.0, 1.12, 1.12, 1.12), True),
        ((1.0, 1.0, 1.0, 1.10, 1.10, 1.10), False),  # less than a tenth apart
        ((1.0, 1.0, 1.0, 1.0, 1.5, 1.5), True),
        ((1.0, 1.0, 1.0, 1.0, 1.0, 1.5), False),  # a single one is no group
        ((1.0, 1.5, 1.5, 1.5, 1.5, 1.5), False),
        ((1.0, 1.5, 1.0, 1.5, 1.5), False),  # five
        ((1.0, 1.0, 1.24, 1.26, 1.5, 1.5), False),  # no gap is more than half of all
        ((1.0, 1.0, 1.2, 1.46, 1.5, 1.5), True),
    ],
)
def test_two_groups_of_launches_are_clearly_apart(times: tuple[float, ...], is_apart: bool) -> None:
    assert in_two_groups(times) == is_apart
    assert in_two_groups(times[::-1]) == is_apart


def test_rows_keep_benchmarks_together_and_sizes_in_order() -> None:
    order = [("Bcast", 8), ("PingPong", 0), ("Bcast", 0), ("PingPong", 8)]
    measured = [
        cells.cell(name, message_bytes=size, launch=launch)
        for launch in (0, 1)
        for name, size in order
    ]
    found = rows(measured)
    assert [(r.benchmark, r.message_bytes) for r in found] == [
        ("Bcast", 0), ("Bcast", 8), ("PingPong", 0), ("PingPong", 8)
    ]  # fmt: skip
    assert all(row.launches == 2 for row in found)


def test_rows_can_follow_the_order_that_was_asked_for() -> None:
    names = ("Allreduce", "PingPong")
    sizes = {"PingPong": [1024, 7, 0], "Allreduce": [1024, 7, 0]}
    measured = [cells.cell("PingPong", message_bytes=n) for n in (0, 7, 1024)]
    measured += [cells.cell("Allreduce", message_bytes=n) for n in (8, 0, 1024)]  # 7, rounded up
    measured += [cells.cell("Barrier", message_bytes=-1)]
    found = in_order(rows(measured), names, sizes)
    assert [(row.benchmark, row.message_bytes) for row in found] == [
        ("Allreduce", 1024), ("Allreduce", 8), ("Allreduce", 0),
        ("PingPong", 1024), ("PingPong", 7), ("PingPong", 0), ("Barrier", -1),
    ]  # fmt: skip


def test_variants_of_a_size_stand_together() -> None:
    measured = [cells.cell(message_bytes=n, cache=c) for c in ("cold", "hot") for n in (8, 0)]
    found = [(row.message_bytes, row.cell.cache) for row in rows(measured)]
    assert found == [(0, "hot"), (0, "cold"), (8, "hot"), (8, "cold")]


def test_a_launch_that_was_repeated_counts_once() -> None:
    (row,) = rows([cells.cell(time_p50_s=1e-6), cells.cell(time_p50_s=2e-6)])
    assert row.values_s == (2e-6,)


def test_no_cells_no_rows() -> None:
    assert rows([]) == []
