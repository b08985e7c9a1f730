# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The time that one cell gets where nobody gives a time for everything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mpigauge.measuring.campaign.budget import CELL_S, cell_s
from mpigauge.measuring.plan import Plan, PlanPart, kernel_words
from mpigauge.measuring.plan.plan import LaunchPlan

PART = PlanPart(("Bcast",), 2)
PLAN = Plan((PART,), "mpich", 1)


@pytest.mark.parametrize("launches", [None, 1, 3, 20, 100])
@pytest.mark.parametrize("parts", [1, 3])
def test_all_launches_together_have_the_time_of_a_cell(launches: int | None, parts: int) -> None:
    plan = replace(PLAN, launches=launches, parts=(PART,) * parts)
    shares = [cell_s(plan, number) for number in range(plan.most_rounds * parts)]
    assert sum(shares) == pytest.approx(parts * CELL_S)
    assert min(shares) > 0
    assert shares == sorted(shares, reverse=True)


def test_a_time_for_everything_is_the_only_bound() -> None:
    assert cell_s(replace(PLAN, seconds=5.0), 0) == 0


def test_kernels_get_the_time_of_a_cell() -> None:
    words = kernel_words(PLAN, LaunchPlan(0, PART, 1, cell_seconds=1.5))
    assert words[words.index("--cell-seconds") + 1] == "1.500"
