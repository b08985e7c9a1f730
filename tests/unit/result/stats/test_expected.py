# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""Expected errors of rows after more launches, from the row and from the history of the machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from mpigauge.model.between import LEAST_RUNS, KnownCell, Remembered, cell_name
from mpigauge.model.row import Row
from mpigauge.result.stats.expected import ExpectedErrors
from mpigauge.result.stats.history import kind_of
from mpigauge.result.stats.launches import expected_error, rows
from mpigauge.result.stats.order import ENDS
from tests import cells

HERE = "these conditions"
SPREAD = (1.0, 1.03, 0.97, 1.01, 0.99, 1.02)


def measured(values: Sequence[float] = SPREAD, sizes: Sequence[int] = (8,)) -> list[Row]:
    return rows(
        cells.cell(message_bytes=size, launch=number, time_p50_s=1e-6 * value)
        for size in sizes
        for number, value in enumerate(values)
    )


def earlier(
    of: Sequence[Row], error: float, runs: int = LEAST_RUNS, launches: int = 6
) -> list[Remembered]:
    """Runs in which ± of six launches of each cell was so wide."""
    known = {
        cell_name(row.key): KnownCell(
            kind_of(row.cell), -13.8, error / ENDS * math.sqrt(6 / launches), launches
        )
        for row in of
    }
    return [Remembered(str(number), str(number), HERE, 0.0, known) for number in range(runs)]


def error_of(of: Sequence[Row], past: Sequence[Remembered], launches: int = 6) -> float:
    return ExpectedErrors(of, 1.0, past, HERE).of(of[0], launches)


def own_error(of: Sequence[Row], launches: int = 6) -> float:
    return expected_error(of[0].values_s, launches)


@pytest.mark.parametrize("runs", [0, LEAST_RUNS - 1])
def test_an_unknown_machine_leaves_it_to_the_row(runs: int) -> None:
    of = measured()
    expected = ExpectedErrors(of, 1.3, earlier(of, 0.5, runs), HERE)
    assert expected.of(of[0], 20) == expected_error(of[0].values_s, 20, 1.3)
    assert not expected.is_from_history(of[0])


def test_history_counts_as_four_runs_beside_this_one() -> None:
    of = measured()
    own = own_error(of)
    assert error_of(of, earlier(of, 2 * own)) == pytest.approx(own * math.sqrt((4 * 4 + 1) / 5))
    assert error_of(of, earlier(of, own)) == pytest.approx(own)


def test_more_launches_make_it_narrower() -> None:
    of = measured()
    past = earlier(of, 0.1)
    assert error_of(of, past, 24) == pytest.approx(error_of(of, past, 6) / 2)


def test_errors_of_earlier_runs_are_those_of_a_launch() -> None:
    """A run of 20 launches shows the same scatter as one of six."""
    of = measured()
    assert error_of(of, earlier(of, 0.1, launches=20)) == pytest.approx(
        error_of(of, earlier(of, 0.1))
    )


def test_runs_of_few_launches_do_not_count() -> None:
    of = measured()
    assert error_of(of, earlier(of, 0.1, launches=3)) == own_error(of)


def test_a_run_that_scatters_more_than_usual_is_expected_to_go_on_so() -> None:
    """Twenty rows that scatter three times as much as they did."""
    sizes = [1 << n for n in range(14)]
    of = measured(sizes=sizes)
    own = own_error(of)
    expected = error_of(of, earlier(of, own / 3))
    factor = math.sqrt((14 * 9 + 4) / 18)
    assert expected == pytest.approx(own * math.sqrt((4 * (factor / 3) ** 2 + 1) / 5))


def test_one_wild_row_does_not_move_the_others() -> None:
    sizes = [1 << n for n in range(10)]
    calm = measured(sizes=sizes)
    own = own_error(calm)
    wild = measured([1, 3, 0.2, 9, 0.5, 2], sizes=[1 << 10])
    of = [*calm, *wild]
    factor = math.sqrt((10 + 4 + 25) / 15)
    expected = error_of(of, earlier(of, own))
    assert expected == pytest.approx(own * math.sqrt((4 * factor**2 + 1) / 5))


def test_a_run_that_scatters_less_than_usual_takes_what_is_usual() -> None:
    of = measured([1.0] * 6)
    assert error_of(of, earlier(of, 0.1)) == pytest.approx(0.1 * math.sqrt(4 / 5))


def test_a_new_cell_takes_what_is_usual_for_its_kind() -> None:
    known, new = measured(), measured(sizes=(16,))
    large = measured(sizes=(1 << 20,))
    past = earlier(known, 0.1)
    assert error_of(new, past) == pytest.approx(error_of(known, past))
    assert error_of(large, past) == own_error(large)


def test_a_cell_under_other_conditions_takes_what_is_usual_for_its_kind() -> None:
    of, other = measured(), measured(sizes=(16,))
    past = [
        *earlier(of, 0.02),
        *(replace(run, conditions="others") for run in earlier(other, 0.2, 3 * LEAST_RUNS)),
    ]
    assert error_of(of, past) < 0.1
    assert error_of(other, past) > 0.1


def test_one_launch_takes_what_is_usual() -> None:
    of = measured([1.0])
    assert error_of(of, earlier(of, 0.1)) == pytest.approx(0.1)
    assert math.isnan(error_of(of, []))


def test_recent_runs_count_more() -> None:
    of = measured()
    old, new = earlier(of, 0.4, 8), earlier(of, 0.1, 7)
    assert error_of(of, [*old, *new]) == pytest.approx(error_of(of, new))
