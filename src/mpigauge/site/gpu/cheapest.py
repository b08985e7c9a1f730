# SPDX-License-Identifier: BSD-3-Clause
# Copyright the mpigauge authors
"""The assignment of columns to rows with the smallest sum of costs."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

_STEP = 1e-9
"""A cost far below any difference of distances, which only orders equal assignments."""


def cheapest(costs: Sequence[Sequence[float]]) -> list[int]:
    """Returns a column for each row, none twice; there are at least as many columns as rows.

    Among assignments of equal cost, lower rows get lower columns. The method is the Hungarian one:
    rows are added one by one, each along the cheapest chain of reassignments.
    """
    rows = len(costs)
    width = len(costs[0]) if costs else 0
    exact = [
        [cost + _STEP * column * (rows - row) for column, cost in enumerate(line)]
        for row, line in enumerate(costs)
    ]
    row_of: list[int | None] = [None] * width
    row_price, column_price = [0.0] * rows, [0.0] * width
    for row in range(rows):
        _add(row, exact, row_of, row_price, column_price)
    by_row = {row: column for column, row in enumerate(row_of) if row is not None}
    return [by_row[row] for row in range(rows)]


def _add(
    row: int,
    costs: Sequence[Sequence[float]],
    row_of: list[int | None],
    row_price: list[float],
    column_price: list[float],
) -> None:
    """Assigns a column to one more row, and adapts the prices of rows and columns."""
    width = len(row_of)
    slack, before = [inf] * width, [-1] * width
    done: list[int] = []
    current, column = row, -1
    while True:
        open_columns = [each for each in range(width) if each not in done]
        for each in open_columns:
            rest = costs[current][each] - row_price[current] - column_price[each]
            if rest < slack[each]:
                slack[each], before[each] = rest, column
        column = min(open_columns, key=slack.__getitem__)
        step = slack[column]
        row_price[row] += step
        for each in done:
            owner = row_of[each]
            assert owner is not None
            row_price[owner] += step
            column_price[each] -= step
        for each in open_columns:
            slack[each] -= step
        done.append(column)
        owner = row_of[column]
        if owner is None:
            break
        current = owner
    while before[column] >= 0:
        row_of[column] = row_of[before[column]]
        column = before[column]
    row_of[column] = row
