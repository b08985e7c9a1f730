# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""A part of a plan with the cells that need more launches: it measures no other cell anew."""

from __future__ import annotations

from collections.abc import Collection

from mpigauge.measuring.plan import Plan, PlanPart
from mpigauge.measuring.plan.narrowed import narrowed_part
from mpigauge.model.columns import Cell
from tests.cells import cell

PART = PlanPart(("PingPong", "Allreduce", "Barrier"), 4, ranks=(2, 4), sizes=(0, 8, 64))


def part_of(
    cells: list[Cell], needed: Collection[int], part: PlanPart = PART
) -> tuple[tuple[str, ...], tuple[int, ...] | None, tuple[int, ...]] | None:
    """The benchmarks, sizes and ranks of the part that measures the needed ones of the cells."""
    keys = {cells[number].key for number in needed}
    made = narrowed_part(Plan((part,), "mpich", seed=1), part, cells, keys)
    return (made.benchmarks, made.sizes, made.ranks) if made else None


def of(benchmark: str, sizes: Collection[int], ranks: Collection[int] = (4,)) -> list[Cell]:
    return [cell(benchmark, message_bytes=size, ranks=n) for n in ranks for size in sizes]


def test_one_benchmark_gets_the_sizes_and_ranks_that_need_more() -> None:
    cells = of("Allreduce", (0, 8, 64), (2, 4))
    assert part_of(cells, {4, 5}) == (("Allreduce",), (8, 64), (4,))


def test_benchmarks_with_the_same_cells_are_narrowed_together() -> None:
    cells = [*of("PingPong", (0, 8, 64), (2,)), *of("Allreduce", (0, 8, 64), (2,))]
    assert part_of(cells, {1, 5}) == (("PingPong", "Allreduce"), (8, 64), (2,))


def test_ranks_stay_where_a_benchmark_was_not_measured_on_all_of_them() -> None:
    """PingPong has 2 ranks and Allreduce 4: with both, Allreduce would be measured on 2."""
    part = PlanPart(("PingPong", "Allreduce"), 4, ranks=(4,), sizes=(0, 8))
    cells = [*of("PingPong", (0, 8), (2,)), *of("Allreduce", (0, 8), (4,))]
    assert part_of(cells, {1, 3}, part) == (("PingPong", "Allreduce"), (8,), (4,))


def test_sizes_stay_where_a_benchmark_was_not_measured_at_all_of_them() -> None:
    """One has sizes of its own."""
    part = PlanPart(("PingPong", "MORE:ping_pong"), 2)
    own = [cell("ping_pong", suite="MORE", message_bytes=size) for size in (1000, 2000)]
    cells = [*of("PingPong", (0, 8), (2,)), *own]
    assert part_of(cells, {0, 2}, part) == (("PingPong", "MORE:ping_pong"), None, ())
    assert part_of(cells, {2}, part) == (("MORE:ping_pong",), (1000,), ())


def test_a_benchmark_without_messages_leaves_the_sizes() -> None:
    cells = [*of("Allreduce", (0, 8), (4,)), cell("Barrier", message_bytes=-1, ranks=4)]
    assert part_of(cells, {2}) == (("Barrier",), (0, 8, 64), (4,))
    assert part_of(cells, {1, 2}) == (("Allreduce", "Barrier"), (8,), (4,))


def test_a_part_without_needed_cells_is_none() -> None:
    cells = [*of("Allreduce", (8,)), *of("Bcast", (8,))]
    assert part_of(cells, {1}) is None
    assert part_of(cells, ()) is None
